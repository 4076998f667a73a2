package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// migrateFlags are the flags of the command.
type migrateFlags struct {
	tableFlags
	apply bool
	stop  string
	cfg   migrate.Config
}

const migrateAbout = `Change the key of a table of PostgreSQL while programs read and write it:

  bigint   a smallint or integer key becomes a bigint, and so do all columns that
           refer to it
  uuid     each row gets an id beside its UUID, and so do rows that refer to it; then the
           id becomes the primary key
  default  a key from a sequence or another generator gets its default from a generator
           in SQL

For MySQL and MariaDB use gh-ost or pt-online-schema-change: see docs/migrate.md.

Without --apply it prints the plan: for each step its statements, its lock and how long
that is held, a check, and the way back. With --apply it does the steps that are left,
except finish. After an interruption, run it again: it continues.

--undo goes back, if the plan has a way back. --finish does all steps that are left, the
swap too, and drops what is old; then there is no way back. Both need --apply. A table
with a feature that was not tested is refused.`

func (a *app) migrateCommand() *cobra.Command {
	p := &migrateFlags{}
	p.fill = &p.cfg.Backfill
	kinds := []string{string(migrate.Bigint), string(migrate.UUID), string(migrate.Default)}
	cmd := a.command("migrate {bigint|uuid|default} --dsn DSN --table TABLE", "move the key of a live table", migrateAbout,
		"  snowkey migrate bigint --dsn postgres://localhost/app --table orders\n  snowkey migrate bigint --dsn postgres://localhost/app --table orders --apply\n  snowkey migrate default --dsn postgres://localhost/app --table orders --generator \"snowkey_next('orders')\"\n  snowkey migrate uuid --dsn postgres://localhost/app --table orders --created-at created_at --namespace orders --generator \"snowkey_next('orders')\"",
		arguments(1, 1, "one argument: bigint, uuid or default"), func(cmd *cobra.Command, args []string) error {
			kind, err := flagval.OneOf(kinds...)(args[0])
			if err != nil {
				return invalidValue("the kind", args[0], err)
			}
			p.cfg.Kind = migrate.Kind(kind)
			return a.migrate(cmd, p)
		})
	cmd.ValidArgs = kinds
	f := cmd.Flags()
	f.StringVar(&p.dsn, "dsn", "", "database of the table, a `DSN`: postgres://… or env:VARIABLE that contains one; required")
	f.StringVar(&p.cfg.Table, "table", "", "`TABLE` whose key is moved, or SCHEMA.TABLE; required")
	f.StringVar(&p.cfg.Column, "column", "", "`COLUMN` to move (default the primary key)")
	f.BoolVar(&p.apply, "apply", false, "do the steps; without it, only show the plan")
	steps, duration := migrate.StepNames(), flagval.Duration(time.Millisecond, 24*time.Hour)
	enumVar(cmd, flagval.New(&p.stop, "STEP", "", flagval.OneOf(steps...)), "stop-before", "stop before the first step of this name: "+flagval.List(steps), steps)
	f.BoolVar(&p.cfg.Undo, "undo", false, "go back, if the plan has a way back")
	f.BoolVar(&p.cfg.Finish, "finish", false, "do all steps, the swap too, and drop what is old; then there is no way back")
	f.StringVar(&p.cfg.Generator, "generator", "", "SQL `EXPRESSION` that makes ids, such as snowkey_next('orders'), for uuid and default")
	f.Var(flagval.New(&p.cfg.LockTimeout, "DURATION", "", duration), "lock-timeout", "how long an attempt to lock a table waits, with writers behind it (default 300ms, or half of deadlock_timeout if that is less)")
	f.Var(flagval.New(&p.cfg.HoldTimeout, "DURATION", "2s", duration), "hold-timeout", "how long a step may hold locks that stop writers")
	f.Var(flagval.New(&p.cfg.Patience, "DURATION", "5m", duration), "patience", "how long to retry a step that cannot lock its tables")
	f.StringVar(&p.cfg.Backfill.Column, "new-column", "", "`COLUMN` that gets the ids, for uuid (default the key's name with _snowkey after it)")
	p.add(cmd, "2000", ", for uuid")
	return cmd
}

func (a *app) migrate(cmd *cobra.Command, p *migrateFlags) error {
	ctx := cmd.Context()
	if p.cfg.Table == "" {
		return usage("--table is required")
	}
	if err := p.checkKind(cmd); err != nil {
		return err
	}
	target, err := p.open(ctx, a, map[dsn.Kind]string{
		dsn.MySQL:  "migrate works on PostgreSQL only: use gh-ost or pt-online-schema-change for MySQL and MariaDB, see docs/migrate.md; snowkey backfill gives ids to their rows",
		dsn.SQLite: "migrate works on PostgreSQL only: convert a table of SQLite as docs/gorm.md shows; snowkey backfill gives ids to its rows",
	})
	if err != nil {
		return err
	}
	defer target.Close()
	if p.cfg.Kind == migrate.UUID {
		closing, err := p.openLease(ctx, a, p.apply && !p.cfg.Undo)
		if err != nil {
			return err
		}
		defer closing()
	}
	p.cfg.StopBefore = migrate.StepName(p.stop)
	p.cfg.BatchSize, p.cfg.FireTriggers, p.cfg.RowsPerSecond, p.cfg.MaxReplicaLag, p.cfg.Waiting = int(p.batch), p.fire, int(p.rows), p.lag, a.waiting
	if !p.apply {
		plan, err := migrate.Inspect(ctx, target.DB, p.cfg)
		if err != nil {
			return tableError(err)
		}
		fmt.Fprint(a.out, plan)
		switch left := plan.Left(); {
		case len(left) == 0:
			a.note("nothing was changed: no step is left")
		case left[0].Name == migrate.StepFinish && !p.cfg.Finish:
			a.note("nothing was changed: only finish is left; --apply --finish does it")
		default:
			a.note("nothing was changed: --apply does the steps that are left")
		}
		return nil
	}
	return a.applyMigration(cmd, target, p)
}

// checkKind rejects flags that the kind does not have.
func (p *migrateFlags) checkKind(cmd *cobra.Command) error {
	if p.cfg.Kind == migrate.UUID {
		return p.checkWorker(cmd)
	}
	for _, name := range append([]string{"created-at", "new-column", "unit", "tz", "worker"}, leaseFlags...) {
		if cmd.Flags().Changed(name) {
			return usage("--%s is for uuid only", name)
		}
	}
	return nil
}

func (a *app) applyMigration(cmd *cobra.Command, target *dsn.Target, p *migrateFlags) error {
	show, done := a.progress()
	p.cfg.Progress = func(s migrate.Step, filled, total int64) {
		if filled > 0 {
			show(string(s.Name), filled, total)
			return
		}
		done()
		a.note("%s %s", s.Name, s.Table)
	}
	result, err := migrate.Run(cmd.Context(), target.DB, p.cfg)
	done()
	if err != nil {
		if cmd.Context().Err() != nil {
			err = fmt.Errorf("%w; what is done stays: run it again to continue", err)
		}
		return tableError(err)
	}
	fmt.Fprintf(a.out, "%s done, %s filled\n", plural(int64(len(result.Steps)), "step"), plural(result.Rows, "row"))
	for _, s := range result.Plan.Left() {
		fmt.Fprintf(a.out, "left: %s %s\n", s.Name, s.Table)
	}
	return nil
}
