package backfill

import (
	"cmp"
	"database/sql"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
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
	// the highest worker ID that was never leased, and releases it at once for later times.
	Store     driver.Store
	Namespace string      // zero: "default"
	Layout    core.Layout // zero: core.Twitter

	// Worker replaces Store. It is a worker ID, datacenter<<WorkerBits | worker, and you guarantee
	// that no generator has issued ids with it. Nil: Store is used.
	Worker *int64

	BatchSize int                     // rows in a transaction; zero: 1,000; at most 100,000
	Progress  func(done, total int64) // called after each transaction; nil: none
	Now       func() time.Time        // nil: the system clock
}

const (
	suffix       = "_snowkey"
	defaultBatch = 1000
	maxBatch     = 100_000
	maxNameBytes = 63 // PostgreSQL's
)

// check sets the defaults, and reports all fields that have a wrong value.
func (cfg *Config) check(db *sql.DB) error {
	var wrong fields.Errors
	if db == nil {
		wrong.Add("db", nil, "must not be nil")
	}
	if _, err := cfg.Dialect.Quote("x"); err != nil {
		wrong.Add("Dialect", string(cfg.Dialect), "must be postgres, mysql or sqlite")
	}
	cfg.checkNames(&wrong)
	cfg.checkTimes(&wrong)
	cfg.checkIDs(&wrong)
	if cfg.BatchSize < 0 || cfg.BatchSize > maxBatch {
		wrong.Add("BatchSize", cfg.BatchSize, "must be 1 to %d, or 0 for %d", maxBatch, defaultBatch)
	}
	cfg.BatchSize = cmp.Or(cfg.BatchSize, defaultBatch)
	if cfg.Progress == nil {
		cfg.Progress = func(int64, int64) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return wrong.Err("backfill")
}

func (cfg *Config) checkNames(wrong *fields.Errors) {
	name := func(field, value string) {
		if reason := badName(value); reason != "" {
			wrong.Add(field, value, "%s", reason)
		}
	}
	schema, table := splitTable(cfg.Table)
	if reason := badName(table); reason != "" {
		wrong.Add("Table", cfg.Table, "%s", reason)
	} else if schema != "" {
		name("Table", schema)
	}
	if schema != "" && cfg.Dialect == ddl.SQLite {
		wrong.Add("Table", cfg.Table, "must not name a schema in SQLite")
	}
	name("CreatedAt", cfg.CreatedAt)
	if cfg.Column != "" {
		name("Column", cfg.Column)
	}
	for _, ref := range cfg.References {
		table, column, ok := cutLast(ref)
		_, bare := splitTable(table)
		if !ok || badName(bare) != "" || badName(column) != "" {
			wrong.Add("References", ref, "must be table.column or schema.table.column")
		}
	}
}

func badName(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case !utf8.ValidString(name) || strings.ContainsAny(name, "?.\"`") || strings.ContainsFunc(name, unicode.IsControl) || strings.HasSuffix(name, " "):
		return "must be a name without dots, quotes, question marks, control characters or a trailing space"
	case len(name) > maxNameBytes:
		return "must have at most 63 bytes"
	}
	return ""
}

// splitTable returns the schema, if there is one, and the name.
func splitTable(table string) (schema, name string) {
	if schema, name, ok := strings.Cut(table, "."); ok {
		return schema, name
	}
	return "", table
}

func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

func (cfg *Config) checkTimes(wrong *fields.Errors) {
	switch cfg.Unit {
	case 0, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond:
	default:
		wrong.Add("Unit", cfg.Unit, "must be 1s, 1ms, 1µs, 1ns, or 0 for none")
	}
	if cfg.Location == nil {
		cfg.Location = time.UTC
	}
}

func (cfg *Config) checkIDs(wrong *fields.Errors) {
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
	none := fields.IsNil(cfg.Store)
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
