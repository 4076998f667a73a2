package sqlstore

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// A Dialect is the SQL dialect of a database. It has the same values as ddl.Dialect, which are the
// names of GORM's dialectors. It is a separate type because ddl imports this package.
type Dialect string

// The dialects.
const (
	Detect   Dialect = "" // the store asks the database
	Postgres Dialect = "postgres"
	MySQL    Dialect = "mysql" // also for MariaDB
	SQLite   Dialect = "sqlite"
)

// String returns the dialect, or Detect.
func (d Dialect) String() string { return cmp.Or(string(d), "Detect") }

// now returns an expression for the database's clock in Unix milliseconds. PostgreSQL evaluates it at
// that moment, the others at the start of the statement, which may be earlier.
func (d Dialect) now() string {
	switch d {
	case Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT)"
	case MySQL:
		return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)" // without time zones or daylight saving time
	}
	return "CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)"
}

// literal returns a string literal that means the same in any encoding and with any settings of the
// session. It contains no ? and no {.
func (d Dialect) literal(s string) string {
	switch d {
	case Postgres:
		quoted := strconv.QuoteToASCII(s)
		return "E'" + strings.NewReplacer("'", `\x27`, "?", `\x3f`, "{", `\x7b`).Replace(quoted[1:len(quoted)-1]) + "'"
	case MySQL:
		return fmt.Sprintf("_utf8mb4 X'%x'", s)
	}
	return fmt.Sprintf("CAST(X'%x' AS TEXT)", s)
}

// A table is the index of a table in DDL.
type table int

const (
	namespaceTable table = iota
	recordTable
	claimTable
	counterTable
	tables // how many there are
)

// tableName matches the names that a statement may contain; they are also quoted.
var tableName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,47}\.)?[A-Za-z_][A-Za-z0-9_]{0,47}$`)

// complete sets all defaults except the schema, and adds the fields that have a wrong value to wrong.
func (cfg *Config) complete(wrong *fields.Errors, rule string, dialects ...Dialect) {
	if !slices.Contains(dialects, cfg.Dialect) {
		wrong.Add("Dialect", string(cfg.Dialect), rule)
	}
	cfg.Table = cmp.Or(cfg.Table, "snow_lease")
	if !tableName.MatchString(cfg.Table) {
		wrong.Add("Table", cfg.Table, "must be a name of at most 48 letters, digits and _, optionally with a schema and a dot before it")
	}
}

// pin adds the default schema to a table without one, so that it is the same table in every session
// and process, whatever the search_path is. database is the one that a MySQL connection has selected.
func (cfg *Config) pin(database string) error {
	if cfg.schema() != "" {
		return nil
	}
	if cfg.Dialect == MySQL && (database == "" || strings.ContainsAny(database, ".'`\"\\")) {
		return fields.Error("sqlstore", "Table", cfg.Table, "needs a database and a dot before it, such as app.snow_lease: the connection has selected %q", database)
	}
	cfg.Table = map[Dialect]string{Postgres: "public", MySQL: database, SQLite: "main"}[cfg.Dialect] + "." + cfg.Table
	return nil
}

// schema returns the schema of the table, or "".
func (cfg Config) schema() string { return cfg.Table[:max(strings.LastIndexByte(cfg.Table, '.'), 0)] }

// name returns the table's name, without the schema.
func (cfg Config) name(t table) string {
	name := cfg.Table[strings.LastIndexByte(cfg.Table, '.')+1:]
	if t == recordTable {
		return name
	}
	base, ok := strings.CutSuffix(name, "lease")
	if !ok {
		base += "_"
	}
	return base + [tables]string{namespaceTable: "namespace", claimTable: "claim", counterTable: "counter"}[t]
}

// table returns the quoted name of the table, with its schema.
func (cfg Config) table(t table) string { return cfg.quoted(cfg.name(t)) }

// quoted returns the quoted name of any table in the schema of Table.
func (cfg Config) quoted(name string) string {
	quote := `"`
	if cfg.Dialect == MySQL {
		quote = "`"
	}
	name = quote + name + quote
	if schema := cfg.schema(); schema != "" {
		name = quote + schema + quote + "." + name
	}
	return name
}

// DDL returns the statements that create the tables. If Table has no schema, PostgreSQL uses the schema
// public, and MySQL the selected database. Config must have a Dialect. The third table
// is optional: the history of claims, for Store.ClaimAt. Only counters need the last one:
// worker.FromCounter, and the numbers and segments of package serial.
func (cfg Config) DDL() ([]string, error) {
	var wrong fields.Errors
	cfg.complete(&wrong, "must be Postgres, MySQL or SQLite", Postgres, MySQL, SQLite)
	if err := wrong.Err("sqlstore"); err != nil {
		return nil, err
	}
	if cfg.Dialect == Postgres {
		_ = cfg.pin("") // only MySQL's may fail
	}
	return cfg.ddl(), nil
}

// ddl is like DDL, for a complete Config.
func (cfg Config) ddl() []string {
	name, text, state, end := "VARCHAR(64) NOT NULL", "VARCHAR(255) NOT NULL", "VARCHAR(16) NOT NULL", ""
	if cfg.Dialect == MySQL { // its usual collations ignore case
		const ascii = " CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
		name, text, state, end = "VARCHAR(64)"+ascii, "VARCHAR(255)"+ascii, "VARCHAR(16)"+ascii, " ENGINE=InnoDB"
	}
	const integer = " BIGINT NOT NULL"
	ddl := [tables]string{
		namespaceTable: "namespace " + name + " PRIMARY KEY, layout " + text + ", fence_window" + integer + ", max_skew" + integer +
			", incarnation " + text + ", since" + integer + ", floor" + integer + ", seen" + integer + ", version" + integer,
		recordTable: "namespace " + name + ", worker_id" + integer + ", claim_id " + name + ", fencing_token" + integer +
			", start" + integer + ", fence" + integer + ", owner " + text + ", state " + state + ", PRIMARY KEY (namespace, worker_id)",
		claimTable: "namespace " + name + ", worker_id" + integer + ", fencing_token" + integer + ", start" + integer +
			", ended" + integer + ", owner " + text + ", claimed" + integer + ", PRIMARY KEY (namespace, worker_id, fencing_token)",
		counterTable: "name " + name + " PRIMARY KEY, value" + integer,
	}
	for t := range tables {
		ddl[t] = "CREATE TABLE IF NOT EXISTS " + cfg.table(t) + " (" + ddl[t] + ")" + end
	}
	return ddl[:]
}
