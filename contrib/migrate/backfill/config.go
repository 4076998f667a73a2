package backfill

import (
	"cmp"
	"database/sql"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures Run and Inspect. Dialect, Table, CreatedAt, and either Store or Worker are
// required.
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

	// Worker replaces Store. It is a worker ID, datacenter<<WorkerBits | worker, and you guarantee
	// that no generator has issued ids with it. Nil: Store is used.
	Worker *int64

	BatchSize int                     // rows in a transaction; zero: 1,000; at most 100,000
	Progress  func(done, total int64) // called after each transaction; nil: none
	Now       func() time.Time        // nil: the system clock

	// FireTriggers lets UPDATE triggers of the tables fire for each row. Otherwise they stay silent in
	// PostgreSQL, if the role may set session_replication_role; elsewhere such tables are refused.
	FireTriggers bool
	// RowsPerSecond limits how many rows are written, those that refer to them included. Zero: no limit.
	RowsPerSecond int
	// MaxReplicaLag makes Run wait while a replica of PostgreSQL is behind by more. The role must see
	// the lag (pg_monitor), and a replica must be connected. Zero: no limit.
	MaxReplicaLag time.Duration
	// Waiting is called when Run waits for a replica, and every 10 seconds. Nil: none.
	Waiting func(reason string)
}

func (cfg *Config) pace() *live.Pace {
	return &live.Pace{RowsPerSecond: cfg.RowsPerSecond, MaxReplicaLag: cfg.MaxReplicaLag, Waiting: cfg.Waiting}
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
	cfg.checkNames(&wrong)
	cfg.checkTimes(&wrong)
	cfg.checkIDs(&wrong)
	cfg.BatchSize = live.CheckBatch(&wrong, cfg.BatchSize, defaultBatch)
	cfg.pace().Check(&wrong)
	if cfg.MaxReplicaLag != 0 && cfg.Dialect != ddl.Postgres {
		wrong.Add("MaxReplicaLag", cfg.MaxReplicaLag, "must be 0: only the lag of replicas of PostgreSQL can be limited")
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int64, int64) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return wrong.Err("backfill")
}

func (cfg *Config) checkNames(wrong *live.Errors) {
	name := func(field, value string) {
		if reason := live.BadName(value); reason != "" {
			wrong.Add(field, value, "%s", reason)
		}
	}
	live.CheckTable(wrong, cfg.Table, live.BadName)
	if schema, _ := live.SplitTable(cfg.Table); schema != "" && cfg.Dialect == ddl.SQLite {
		wrong.Add("Table", cfg.Table, "must not name a schema in SQLite")
	}
	name("CreatedAt", cfg.CreatedAt)
	if cfg.Column != "" {
		name("Column", cfg.Column)
	}
	for _, ref := range cfg.References {
		table, column, ok := cutLast(ref)
		_, bare := live.SplitTable(table)
		if !ok || live.BadName(bare) != "" || live.BadName(column) != "" {
			wrong.Add("References", ref, "must be table.column or schema.table.column")
		}
	}
}

func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

func (cfg *Config) checkTimes(wrong *live.Errors) {
	switch cfg.Unit {
	case 0, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond:
	default:
		wrong.Add("Unit", cfg.Unit, "must be 1s, 1ms, 1µs, 1ns, or 0 for none")
	}
	if cfg.Location == nil {
		cfg.Location = time.UTC
	}
}

func (cfg *Config) checkIDs(wrong *live.Errors) {
	cfg.Namespace = cmp.Or(cfg.Namespace, "default")
	if driver.CheckNamespace(cfg.Namespace) != nil {
		wrong.Add("Namespace", cfg.Namespace, "must be 1 to 64 letters, digits and . _ - : / of ASCII")
	}
	if err := cfg.Layout.Validate(); err != nil {
		wrong.Add("Layout", cfg.Layout, "%s", err)
		return
	}
	cfg.Layout = cfg.Layout.WithDefaults()
	if cfg.Layout.Unsigned {
		wrong.Add("Layout.Unsigned", true, "must be false: half of the ids would be negative, so they would not sort")
	}
	none := live.IsNil(cfg.Store)
	switch {
	case none && cfg.Worker == nil:
		wrong.Add("Store", nil, "is required, unless Worker is set")
	case !none && cfg.Worker != nil:
		wrong.Add("Worker", *cfg.Worker, "must be nil if Store is set, because the worker ID then comes from the Store")
	case !none:
		if _, ok := cfg.Store.(driver.Admin); !ok {
			wrong.Add("Store", cfg.Store, "must implement driver.Admin, which lists the worker IDs that were leased")
		}
	case *cfg.Worker < 0 || *cfg.Worker >= cfg.Layout.WorkerIDs():
		wrong.Add("Worker", *cfg.Worker, "must be 0 to %d", cfg.Layout.WorkerIDs()-1)
	}
}
