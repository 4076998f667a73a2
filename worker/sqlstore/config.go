package sqlstore

import (
	"cmp"
	"slices"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
)

// Config configures New. The zero value is ready for use.
type Config struct {
	// Dialect is the SQL dialect of the database. Zero: the store asks the database.
	Dialect ddl.Dialect
	// Table is the table of the records, optionally with a schema and a dot before it. Zero:
	// "snow_lease". The other tables are named after it: if it ends in lease, with namespace, claim
	// and counter instead (snow_namespace, snow_claim, snow_counter), otherwise with _namespace,
	// _claim and _counter appended. Without a schema, the tables are in PostgreSQL's schema public,
	// whatever the search_path is, or in the database that the MySQL connection has selected. Each
	// database and each schema has separate namespaces.
	Table string
	// NoCreate makes a missing table an error; you create the tables.
	NoCreate bool
	// AllowDataLoss accepts, for counters, a database that may lose committed writes when its machine
	// crashes, as in tests. Numbers may then be issued twice. Leases need no such setting.
	AllowDataLoss bool
}

// validate adds the fields that have a wrong value to wrong.
func (cfg Config) validate(wrong *fields.Errors, rule string, dialects ...ddl.Dialect) {
	if !slices.Contains(dialects, cfg.Dialect) {
		wrong.Add("Dialect", string(cfg.Dialect), rule)
	}
	if _, ok := leasetables.Parse(cmp.Or(cfg.Table, "snow_lease")); !ok {
		wrong.Add("Table", cfg.Table, leasetables.Rule)
	}
}

// tables returns the names of the tables. A Table without a schema is in the given one, in PostgreSQL in
// public: so they are the same tables in every session and process, whatever the search_path is.
func (cfg Config) tables(schema string) leasetables.Names {
	n, _ := leasetables.Parse(cmp.Or(cfg.Table, "snow_lease"))
	if n.MySQL = cfg.Dialect == ddl.MySQL; cfg.Dialect == ddl.Postgres {
		schema = "public"
	}
	n.Schema = cmp.Or(n.Schema, schema)
	return n
}

// DDL returns the statements that create the tables. If Table has no schema, PostgreSQL uses the schema
// public, and MySQL the selected database. Config must have a Dialect. The third table
// is optional: the history of claims, for Store.ClaimAt. Only counters need the last one:
// worker.FromCounter, and the numbers and segments of package serial.
func (cfg Config) DDL() ([]string, error) {
	var wrong fields.Errors
	cfg.validate(&wrong, "must be postgres, mysql or sqlite", ddl.Postgres, ddl.MySQL, ddl.SQLite)
	if err := wrong.Err("sqlstore"); err != nil {
		return nil, err
	}
	return cfg.tables("").DDL(), nil
}
