package backfill

import (
	"cmp"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures Run and Inspect. Dialect, Table, CreatedAt and Store are required.
type Config struct {
	Dialect   ddl.Dialect
	Table     string // the table whose rows get ids, or schema.table
	CreatedAt string // the column with the creation time: a timestamp, a date, or an integer, see Unit

	// Column is the column for the ids, a 64-bit integer. Run adds it if it is missing. Zero: the
	// name of the key plus _snowkey.
	Column string
	// References lists columns that hold keys of Table without a declared foreign key, such as
	// "lines.order_id". Declared foreign keys are found automatically. The ids go to a column with
	// the same name plus _snowkey, which Run adds if it is missing.
	References []string

	// Unit is the unit of CreatedAt if that is an integer since 1970: time.Second, time.Millisecond,
	// time.Microsecond or time.Nanosecond. Zero: CreatedAt is not an integer.
	Unit time.Duration
	// Location is the zone of times that are stored without one, such as a DATETIME in MySQL. Nil:
	// UTC.
	Location *time.Location

	// Store has the leases of the namespace; it must implement driver.Admin. The backfill takes
	// the highest worker ID that was never leased, and releases it at once for later times. A store
	// that may once have lost records does not know which: then Run returns an error, and Worker
	// must name one. Name one too if the tables of the leases were dropped.
	Store     driver.Store
	Namespace string      // zero: "default"
	Layout    core.Layout // zero: core.Twitter

	// Worker is the worker ID to take, datacenter<<WorkerBits | worker. The Store must have no record of
	// it, and you guarantee that no generator has issued ids with it; each run needs another. Nil: Run
	// chooses one.
	Worker *int64

	BatchSize int                     // rows in a transaction; zero: 1,000; at most 100,000
	Pause     time.Duration           // after each transaction, for programs and replicas
	Progress  func(done, total int64) // called after each transaction; nil: none
	Now       func() time.Time        // nil: the system clock

	// FireTriggers lets UPDATE triggers of the tables fire for each row. Without it, Run refuses tables
	// that have some.
	FireTriggers bool
}

const (
	suffix       = "_snowkey"
	defaultBatch = 1000
)

// check sets the defaults, and reports all fields that have a wrong value.
func (cfg *Config) check(db *sql.DB) error {
	var wrong live.Errors
	if db == nil {
		wrong.Add("db", nil, "must not be nil")
	}
	if _, err := cfg.Dialect.Quote("x"); err != nil {
		wrong.Add("Dialect", string(cfg.Dialect), "must be postgres, mysql or sqlite")
	}
	cfg.BatchSize = wrong.Check(cfg.Table, cfg.Column, cfg.BatchSize, defaultBatch, cfg.Pause)
	if schema, _ := live.SplitTable(cfg.Table); schema != "" && cfg.Dialect == ddl.SQLite {
		wrong.Add("Table", cfg.Table, "must not name a schema in SQLite")
	}
	if reason := live.BadName(cfg.CreatedAt); reason != "" {
		wrong.Add("CreatedAt", cfg.CreatedAt, "%s", reason)
	}
	for _, ref := range cfg.References {
		table, column := splitColumn(ref)
		if _, bare := live.SplitTable(table); live.BadName(bare) != "" || live.BadName(column) != "" {
			wrong.Add("References", ref, "must be table.column or schema.table.column")
		}
	}
	switch cfg.Unit {
	case 0, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond:
	default:
		wrong.Add("Unit", cfg.Unit, "must be 1s, 1ms, 1µs, 1ns, or 0 for none")
	}
	cfg.checkIDs(&wrong)
	if cfg.Location == nil {
		cfg.Location = time.UTC
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int64, int64) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return wrong.Err("backfill")
}

// splitColumn splits a column of References from its table.
func splitColumn(ref string) (table, column string) {
	i := max(strings.LastIndexByte(ref, '.'), 0)
	return ref[:i], strings.TrimPrefix(ref[i:], ".")
}

func (cfg *Config) checkIDs(wrong *live.Errors) {
	cfg.Namespace = cmp.Or(cfg.Namespace, "default")
	if driver.CheckNamespace(cfg.Namespace) != nil {
		wrong.Add("Namespace", cfg.Namespace, "must be 1 to 64 letters, digits and . _ - : / of ASCII")
	}
	if _, ok := cfg.Store.(driver.Admin); !ok {
		wrong.Add("Store", fmt.Sprintf("%T", cfg.Store), "must be a store that implements driver.Admin")
	}
	if err := cfg.Layout.Validate(); err != nil {
		wrong.Add("Layout", cfg.Layout, "%s", err)
		return
	}
	cfg.Layout = cfg.Layout.WithDefaults()
	if cfg.Layout.Unsigned {
		wrong.Add("Layout.Unsigned", true, "must be false: half of the ids would be negative, so they would not sort")
	}
	if w := cfg.Worker; w != nil && (*w < 0 || *w >= cfg.Layout.WorkerIDs()) {
		wrong.Add("Worker", *w, "must be 0 to %d", cfg.Layout.WorkerIDs()-1)
	}
}
