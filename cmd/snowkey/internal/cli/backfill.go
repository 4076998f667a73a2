package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
)

// backfillFlags are the flags of the command.
type backfillFlags struct {
	fillFlags
	lease  storeFlags
	worker int64
	dryRun bool
	cfg    backfill.Config
}

const backfillAbout = `Give ids to the existing rows of a table. Each id carries the time in
--created-at, so the ids sort as the rows do.

The ids go to a new column next to the key: id_snowkey if the key is id. Each
column that refers to the key gets such a column too, order_id_snowkey for
order_id. Columns with a foreign key are found; name others with --references.
Missing columns are added. Keys and constraints do not change.

The ids differ from those of all generators with a lease in --namespace: each
run takes a worker ID that was never leased, and uses only times in the past.
Programs may use the tables meanwhile.

Each transaction writes --batch rows. If a run is interrupted, run the same
command again: it continues. --dry-run shows what would be done.`

func (a *app) backfillCommand() *cobra.Command {
	p := &backfillFlags{worker: -1}
	cmd := a.command("backfill --dsn DSN --table TABLE --created-at COLUMN", "give ids to existing rows", backfillAbout,
		`  snowkey backfill --dsn postgres://localhost/app --table orders \
    --created-at created_at --dry-run
  snowkey backfill --dsn postgres://localhost/app --table orders \
    --created-at created_at
  snowkey backfill --dsn mysql://root@localhost/app --table orders \
    --created-at made --tz Europe/Vienna --references order_lines.order_id`,
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error { return a.backfill(cmd, p) })
	f := cmd.Flags()
	f.StringVar(&p.dsn, "dsn", "", "database of the table, a `DSN`: postgres://…, mysql://… or user:password@tcp(host)/db, file:x.db or x.sqlite, or env:VARIABLE that contains one of these; required")
	f.StringVar(&p.cfg.Table, "table", "", "`TABLE` whose rows get ids, or SCHEMA.TABLE; required")
	f.StringVar(&p.cfg.Column, "column", "", "`COLUMN` for the ids (default the key's name plus _snowkey)")
	f.StringArrayVar(&p.cfg.References, "references", nil, "`TABLE.COLUMN` that holds keys without a foreign key; may be repeated")
	f.BoolVar(&p.dryRun, "dry-run", false, "show what would be done, and write nothing")
	f.StringVar(&p.cfg.CreatedAt, "created-at", "", "`COLUMN` with the creation time of each row; required")
	enumVar(cmd, flagval.New(&p.cfg.Unit, "UNIT", "", unit), "unit",
		"unit of a --created-at with integers since 1970: "+flagval.List(units), units)
	f.Var(flagval.New(&p.cfg.Location, "ZONE", "UTC", flagval.Zone), "tz", "time zone of times that are stored without one")
	p.lease.add(cmd, "lease", "store of the worker IDs (default the database of the table)")
	f.Var(flagval.New(&p.worker, "N", "", flagval.Whole(0, math.MaxInt64)), "worker",
		"worker ID to take, of which the store has no record; you guarantee that nothing has made ids with it")
	addLayout(cmd, &p.cfg.Layout)
	p.add(cmd, "1000", "; without it, they are refused")
	a.jsonFlag(cmd, "one object")
	return cmd
}

func (a *app) backfill(cmd *cobra.Command, p *backfillFlags) error {
	ctx := cmd.Context()
	switch {
	case p.cfg.Table == "":
		return usage("--table is required")
	case p.cfg.CreatedAt == "":
		return usage("--created-at is required: the column with the creation time of each row")
	}
	if p.worker >= 0 {
		p.cfg.Worker = &p.worker
	}
	target, err := p.open(ctx, a, nil)
	if err != nil {
		return err
	}
	defer target.Close()
	p.lease.text = cmp.Or(p.lease.text, p.dsn)
	leases, store, err := a.openStore(ctx, &p.lease, !p.dryRun)
	if err != nil {
		return err
	}
	defer leases.Close()
	p.cfg.Now, p.cfg.Store, p.cfg.Namespace = a.now, store, p.lease.namespace
	p.cfg.Dialect = target.Kind.Dialect()
	p.cfg.BatchSize, p.cfg.FireTriggers, p.cfg.Pause = int(p.batch), p.fire, p.pause
	if p.dryRun {
		plan, err := backfill.Inspect(ctx, target.DB, p.cfg)
		if err != nil {
			return tableError(err)
		}
		return a.plan(plan)
	}
	return a.fill(ctx, target, p)
}

func (a *app) fill(ctx context.Context, target *dsn.Target, p *backfillFlags) error {
	show, done := a.progress()
	p.cfg.Progress = func(filled, total int64) { show("rows", filled, total) }
	result, err := backfill.Run(ctx, target.DB, p.cfg)
	done()
	if err != nil && !errors.As(err, new(*backfill.LeftError)) && !errors.As(err, new(*backfill.ReferenceError)) {
		return interrupted(ctx, err)
	}
	if a.json {
		if wrong := a.object(resultJSON{result.Worker, result.Rows, result.Referring, result.MaxDelay.String()}); wrong != nil {
			return wrong
		}
	} else {
		a.filled(p, result)
	}
	if err != nil {
		return tableError(err)
	}
	return nil
}

type resultJSON struct {
	WorkerID  int64  `json:"worker_id"` // -1: none was needed
	Rows      int64  `json:"rows"`
	Referring int64  `json:"referring"`
	MaxDelay  string `json:"max_delay"`
}

func (a *app) filled(p *backfillFlags, r backfill.Result) {
	if r.Worker < 0 {
		fmt.Fprintf(a.out, "%s: no row needed an id\n", p.cfg.Table)
	} else {
		fmt.Fprintf(a.out, "%s: %s got an id, with the worker ID %d\n", p.cfg.Table, plural(r.Rows, "row"), r.Worker)
	}
	if r.Referring > 0 {
		fmt.Fprintf(a.out, "%s to them got one, too\n", plural(r.Referring, "reference"))
	}
	if r.MaxDelay > 0 {
		fmt.Fprintf(a.out, "ids are at most %v later than their rows, because many rows have the same time\n", r.MaxDelay)
	}
}

// planJSON is the JSON of a plan.
type planJSON struct {
	Table      string          `json:"table"`
	Key        string          `json:"key"`
	CreatedAt  string          `json:"created_at"`
	Column     string          `json:"column"`
	Adds       bool            `json:"adds_column"`
	Rows       int64           `json:"rows"`
	Oldest     string          `json:"oldest,omitempty"`
	Newest     string          `json:"newest,omitempty"`
	References []referenceJSON `json:"references"`
}

type referenceJSON struct {
	Table     string `json:"table"`
	Column    string `json:"column"`
	NewColumn string `json:"new_column"`
	Adds      bool   `json:"adds_column"`
	Indexed   bool   `json:"indexed"`
	Rows      int64  `json:"rows"`
}

func (a *app) plan(p backfill.Plan) error {
	if a.json {
		j := planJSON{
			Table: p.Table, Key: p.Key, CreatedAt: p.CreatedAt, Column: p.Column, Adds: p.Adds, Rows: p.Rows,
			References: []referenceJSON{},
		}
		if p.Rows > 0 {
			j.Oldest, j.Newest = timetext.Format(p.Oldest), timetext.Format(p.Newest)
		}
		for _, r := range p.References {
			j.References = append(j.References, referenceJSON(r))
		}
		return a.object(j)
	}
	added := func(adds bool) string {
		if adds {
			return ", which will be added"
		}
		return ""
	}
	a.label("table", p.Table+", by its key "+p.Key+" and "+p.CreatedAt)
	a.label("ids", "in "+p.Column+added(p.Adds))
	rows := plural(p.Rows, "row")
	if p.Rows > 0 {
		rows += ", created from " + timetext.Format(p.Oldest) + " to " + timetext.Format(p.Newest)
	}
	a.label("to fill", rows)
	for _, r := range p.References {
		text := fmt.Sprintf("%s.%s, with ids in %s%s: %s", r.Table, r.Column, r.NewColumn, added(r.Adds), plural(r.Rows, "row"))
		if !r.Indexed {
			text += a.style.paint(yellow, ", in one statement because it has no index")
		}
		a.label("reference", text)
	}
	a.note("nothing was written")
	return nil
}

// fillFlags are the flags of the commands that fill the rows of a table.
type fillFlags struct {
	dsn   string
	batch int64
	pause time.Duration
	fire  bool
}

// add adds the flags but for --dsn.
func (p *fillFlags) add(cmd *cobra.Command, batch, fire string) {
	f := cmd.Flags()
	f.Var(flagval.New(&p.batch, "N", batch, flagval.Whole(1, 100_000)), "batch", "rows in a transaction")
	f.BoolVar(&p.fire, "fire-triggers", false, "let UPDATE triggers of the tables fire for each row"+fire)
	f.Var(flagval.New(&p.pause, "DURATION", "0s", flagval.Duration(0, time.Hour)), "pause", "wait after each batch")
}

var units = []string{"s", "ms", "us", "ns"} //nolint:gochecknoglobals // constant

func unit(s string) (time.Duration, error) {
	name, err := flagval.OneOf(units...)(s)
	if err != nil {
		return 0, err
	}
	return time.ParseDuration("1" + name)
}

// open opens the database of the table. refused has the reasons why some are not accepted.
func (p *fillFlags) open(ctx context.Context, a *app, refused map[dsn.Kind]string) (*dsn.Target, error) {
	if p.dsn == "" {
		return nil, usage("--dsn is required: the database of the table, such as postgres://user@host/db")
	}
	store := &storeFlags{flag: "--dsn", text: p.dsn}
	d, err := a.parseStore(store)
	if err != nil {
		return nil, err
	}
	switch reason := refused[d.Kind]; {
	case reason != "":
		return nil, usage("--dsn: %s", reason)
	case !d.Kind.SQL():
		return nil, usage("--dsn: %s has no tables", d.Kind)
	}
	return a.open(ctx, store, false)
}

// interrupted is tableError for a run that a signal may have ended.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("%w; what is done stays: run it again to continue", err)
	}
	return tableError(err)
}

// tableError names flags, and drops the packages' names.
func tableError(err error) error {
	named := byFlag(err)
	text := strings.NewReplacer(": migrate: ", ": ", ": backfill: ", ": ", "\nbackfill: ", "\n",
		"set Worker to", "set --worker to", "in another Namespace", "in another --namespace",
		"with Finish", "with --finish", "with Undo", "with --undo").Replace(named.Error())
	if errors.As(named, new(*usageError)) {
		return usage("%s", text)
	}
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(text, "migrate: "), "backfill: "))
}
