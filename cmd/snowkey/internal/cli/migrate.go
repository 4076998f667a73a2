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
	fillFlags
	apply bool
	cfg   migrate.Config
}

const migrateAbout = `Make an integer key of a table of PostgreSQL a bigint, and all columns that
refer to it, while programs read and write the tables.

For MySQL and MariaDB use gh-ost or pt-online-schema-change: see
docs/migrate.md.

Without --apply it prints the plan: for each step its statements, its lock, and
a check. With --apply it does the steps that are left, except finish. After an
interruption, run it again: it continues.

--undo goes back, if the plan has a way back. --finish does all steps that are
left, the swap too, and drops what is old; then there is no way back. Both need
--apply. What would not be kept is refused before anything is written.`

func (a *app) migrateCommand() *cobra.Command {
	p := &migrateFlags{}
	cmd := a.command("migrate bigint --dsn DSN --table TABLE", "make the key of a live table 64 bits wide", migrateAbout,
		"  snowkey migrate bigint --dsn postgres://localhost/app --table orders\n"+
			"  snowkey migrate bigint --dsn postgres://localhost/app --table orders --apply",
		arguments(1, 1, "one argument: bigint"), func(cmd *cobra.Command, args []string) error {
			if _, err := flagval.OneOf("bigint")(args[0]); err != nil {
				return invalidValue("the kind", args[0], err)
			}
			return a.migrate(cmd, p)
		})
	cmd.ValidArgs = []string{"bigint"}
	f := cmd.Flags()
	f.StringVar(&p.dsn, "dsn", "", "database of the table, a `DSN`: postgres://… or env:VARIABLE that contains one; required")
	f.StringVar(&p.cfg.Table, "table", "", "`TABLE` whose key is moved, or SCHEMA.TABLE; required")
	f.StringVar(&p.cfg.Column, "column", "", "`COLUMN` to move (default the primary key)")
	f.BoolVar(&p.apply, "apply", false, "do the steps; without it, only show the plan")
	steps := []string{
		migrate.StepColumns, migrate.StepFill, migrate.StepCheck, migrate.StepValidate,
		migrate.StepIndex, migrate.StepForeignKey, migrate.StepSwap, migrate.StepFinish,
	}
	duration := flagval.Duration(time.Millisecond, 24*time.Hour)
	enumVar(cmd, flagval.New(&p.cfg.StopBefore, "STEP", "", flagval.OneOf(steps...)), "stop-before", "stop before the first step of this name: "+flagval.List(steps), steps)
	f.BoolVar(&p.cfg.Undo, "undo", false, "go back, if the plan has a way back")
	f.BoolVar(&p.cfg.Finish, "finish", false, "do all steps, the swap too, and drop what is old; then there is no way back")
	f.Var(flagval.New(&p.cfg.LockTimeout, "DURATION", "", duration), "lock-timeout", "how long an attempt to lock a table waits, with writers behind it (default 300ms, or half of deadlock_timeout if that is less)")
	f.Var(flagval.New(&p.cfg.HoldTimeout, "DURATION", "2s", duration), "hold-timeout", "how long a step may hold locks that stop writers")
	f.Var(flagval.New(&p.cfg.Patience, "DURATION", "5m", duration), "patience", "how long to retry a step that cannot lock its tables")
	p.add(cmd, "2000", "")
	return cmd
}

func (a *app) migrate(cmd *cobra.Command, p *migrateFlags) error {
	ctx := cmd.Context()
	if p.cfg.Table == "" {
		return usage("--table is required")
	}
	target, err := p.open(ctx, a, map[dsn.Kind]string{
		dsn.MySQL:  "migrate works on PostgreSQL only: use gh-ost or pt-online-schema-change for MySQL and MariaDB, see docs/migrate.md; snowkey backfill gives ids to their rows",
		dsn.SQLite: "migrate works on PostgreSQL only: convert a table of SQLite as docs/gorm.md shows; snowkey backfill gives ids to its rows",
	})
	if err != nil {
		return err
	}
	defer target.Close()
	p.cfg.BatchSize, p.cfg.FireTriggers, p.cfg.Pause = int(p.batch), p.fire, p.pause
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

func (a *app) applyMigration(cmd *cobra.Command, target *dsn.Target, p *migrateFlags) error {
	show, done := a.progress()
	p.cfg.Progress = func(s migrate.Step, filled, total int64) {
		if filled > 0 {
			show(s.Name, filled, total)
			return
		}
		done()
		a.note("%s %s", s.Name, s.Table)
	}
	result, err := migrate.Run(cmd.Context(), target.DB, p.cfg)
	done()
	if err != nil {
		return interrupted(cmd.Context(), err)
	}
	fmt.Fprintf(a.out, "%s done, %s filled\n", plural(int64(len(result.Steps)), "step"), plural(result.Rows, "row"))
	for _, s := range result.Plan.Left() {
		fmt.Fprintf(a.out, "left: %s %s\n", s.Name, s.Table)
	}
	return nil
}
