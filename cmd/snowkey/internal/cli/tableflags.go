package cli

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
)

// tableFlags are those of the commands that fill the rows of a table.
type tableFlags struct {
	dsn         string
	lease       storeFlags
	worker      int64
	batch, rows int64
	lag         time.Duration
	fire        bool
	fill        *backfill.Config
}

var units = []string{"s", "ms", "us", "ns"} //nolint:gochecknoglobals // constant

func unit(s string) (time.Duration, error) {
	name, err := flagval.OneOf(units...)(s)
	return map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}[name], err
}

// duration parses a duration of at least a millisecond.
func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	const longest = 24 * time.Hour
	if err != nil || d < time.Millisecond || d > longest {
		return 0, errors.New("must be a duration from 1ms to 24h, such as 300ms")
	}
	return d, nil
}

// add adds the flags. of is after the help of those that only one kind has.
func (p *tableFlags) add(a *app, cmd *cobra.Command, batch, of string) {
	f := cmd.Flags()
	f.StringVar(&p.fill.CreatedAt, "created-at", "", "`COLUMN` with the creation time of each row"+cmp.Or(of, "; required"))
	f.Var(flagval.New(&p.fill.Unit, "UNIT", "", unit), "unit", "unit of a --created-at with integers since 1970: "+flagval.List(units))
	f.Var(flagval.New(&p.fill.Location, "ZONE", "UTC", flagval.Zone), "tz", "time zone of times that are stored without one")
	f.Var(flagval.New(&p.batch, "N", batch, flagval.Whole(1, 100_000)), "batch", "rows in a transaction")
	f.BoolVar(&p.fire, "fire-triggers", false, "let UPDATE triggers of the tables fire for each row")
	f.Var(flagval.New(&p.rows, "N", "", flagval.Whole(1, math.MaxInt32)), "rows-per-second", "rows to write in a second at most (default no limit)")
	f.Var(flagval.New(&p.lag, "DURATION", "", flagval.Duration(100*time.Millisecond, 24*time.Hour)), "max-replica-lag", "wait while a replica of PostgreSQL is behind by more (default no limit)")
	p.lease.add(cmd, "lease", "store of the worker IDs"+of+" (default the database of the table)")
	p.lease.addNamespace(cmd)
	p.lease.addDataLoss(cmd)
	p.worker = -1
	f.Var(flagval.New(&p.worker, "N", "", flagval.Whole(0, math.MaxInt64)), "worker", "worker ID to use instead of a lease; you guarantee that nothing has made IDs with it")
	a.jsonFlag(cmd, "one object")
	addLayout(cmd, &p.fill.Layout)
	completeWith(cmd, "unit", units)
}

// leaseFlags are those that --worker excludes.
func leaseFlags() []string {
	return []string{"lease", "namespace", "token", "token-file", "allow-data-loss"}
}

// checkWorker rejects flags of a lease beside --worker.
func (p *tableFlags) checkWorker(cmd *cobra.Command) error {
	if p.worker < 0 {
		return nil
	}
	for _, name := range leaseFlags() {
		if cmd.Flags().Changed(name) {
			return usage("--worker excludes --%s: it takes no lease", name)
		}
	}
	p.fill.Worker = &p.worker
	return nil
}

// open opens the database of the table. refused has the reasons why some are not accepted.
func (p *tableFlags) open(ctx context.Context, a *app, refused map[dsn.Kind]string) (*dsn.Target, error) {
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

// openLease opens the store of the worker IDs, unless there is --worker.
func (p *tableFlags) openLease(ctx context.Context, a *app, create bool) (closing func(), err error) {
	p.fill.Now = a.now
	if p.fill.Worker != nil {
		return func() {}, nil
	}
	if p.lease.text == "" {
		p.lease.text = p.dsn
	}
	leases, store, err := a.openStore(ctx, &p.lease, create)
	if err != nil {
		return nil, err
	}
	p.fill.Store, p.fill.Namespace = store, p.lease.namespace
	return leases.Close, nil
}

// waiting says why a run waits.
func (a *app) waiting(reason string) { a.note("waiting: %s", reason) }

// tableFields names the flags of the fields.
var tableFields = map[string]string{ //nolint:gochecknoglobals // constant
	"Table": "--table", "Column": "--column", "Generator": "--generator", "StopBefore": "--stop-before", "Finish": "--finish", "References": "--references",
	"LockTimeout": "--lock-timeout", "HoldTimeout": "--hold-timeout", "Patience": "--patience", "BatchSize": "--batch", "FireTriggers": "--fire-triggers",
	"RowsPerSecond": "--rows-per-second", "MaxReplicaLag": "--max-replica-lag", "Backfill.CreatedAt": "--created-at", "CreatedAt": "--created-at", "Unit": "--unit",
	"Backfill.Namespace": "--namespace", "Namespace": "--namespace", "Worker": "--worker", "Layout.Unsigned": "--unsigned", "Store": "--lease",
}

// tableError names flags, and drops the packages' names.
func tableError(err error) error {
	var dependents *migrate.DependentsError
	named := byFlag(err, tableFields)
	if errors.As(err, &dependents) && len(dependents.Drop) > 0 {
		return errors.New(named.Error() + "\n\n" + strings.TrimSuffix(dependents.Script(), "\n"))
	}
	if errors.As(named, new(*usageError)) {
		return named
	}
	text := strings.NewReplacer(": migrate: ", ": ", ": backfill: ", ": ", "\nbackfill: ", "\n").Replace(withAdvice(err).Error())
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(text, "migrate: "), "backfill: "))
}
