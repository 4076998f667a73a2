package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// needed are the rights on the tables.
var needed = [tables]string{spaceTable: "SELECT, INSERT", workerTable: "SELECT, INSERT, UPDATE", counterTable: "SELECT, INSERT, UPDATE"}

// deniedText finds MySQL's errors for a right that is missing, on a database or a table.
var deniedText = regexp.MustCompile(`\bError (1044|1142)\b`)

// denied reports whether the role lacks a right: in PostgreSQL's drivers by SQLSTATE, in
// MySQL's by its text.
func denied(err error) bool {
	if err == nil {
		return false
	}
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState() == "42501"
	}
	return deniedText.MatchString(err.Error())
}

// noSchema reports whether a role of PostgreSQL has no schema to create in.
func noSchema(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && state.SQLState() == "3F000"
}

// forbidden is the error if the role lacks the rights to create or read the tables. It ends
// with the statements that another role has to run.
func (s *Store) forbidden(ctx context.Context, cfg Config, verb string, missing []int, err error) error {
	ddl, faults := cfg.DDL()
	if faults != nil {
		return faults
	}
	role, schema := s.role(ctx, cfg)
	var script, grants []string
	first := ""
	for _, number := range missing {
		table := cfg.table(suffixes[number])
		there := schema + table // for another role, the name alone may mean another schema
		script = append(script, strings.Replace(ddl[number], table, there, 1)+";")
		if role != "" {
			grants = append(grants, "GRANT "+needed[number]+" ON "+there+" TO "+role+";")
		}
		if first == "" {
			first = there
		}
	}
	who := "the role"
	if role != "" {
		who += " " + role
	}
	return fmt.Errorf("sqlstore: %s cannot %s the table %s: %w; as a role that may create it, run: %s", who, verb, first, err, strings.Join(append(script, grants...), " "))
}

// role returns the role, and the schema of tables whose names have none, with its dot. Both
// are quoted. They are empty if the database has none.
func (s *Store) role(ctx context.Context, cfg Config) (role, schema string) {
	query := "SELECT quote_ident(CAST(current_user AS TEXT)), COALESCE(quote_ident(CAST(current_schema() AS TEXT)) || '.', '')"
	switch cfg.Dialect {
	case MySQL:
		query = "SELECT CURRENT_USER(), COALESCE(CONCAT('`', REPLACE(DATABASE(), '`', '``'), '`.'), '')"
	case SQLite:
		return "", ""
	}
	err := s.alone(ctx, cfg.Dialect, func(q querier) error { return q.QueryRowContext(ctx, query).Scan(&role, &schema) })
	if err != nil {
		return "", "" // the error says enough without them
	}
	if i := strings.LastIndexByte(role, '@'); cfg.Dialect == MySQL && i >= 0 {
		role = "'" + strings.ReplaceAll(role[:i], "'", "''") + "'@'" + role[i+1:] + "'"
	}
	if cfg.schema() != "" {
		schema = ""
	}
	return role, schema
}

// withRights adds the missing right to PostgreSQL's error, which names only the table.
func (s *Store) withRights(ctx context.Context, err error) error {
	var state interface{ SQLState() string }
	if !errors.As(err, &state) || !denied(err) { // MySQL's error names both
		return err
	}
	var missing string
	f := s.found.Load()
	if f == nil || s.db.QueryRowContext(ctx, f.lacks()).Scan(&missing) != nil || missing == "" {
		return err
	}
	return fmt.Errorf("%w; the role lacks %s: GRANT it", err, missing)
}

// lacks is the query for the rights that the role lacks on the tables that exist.
func (f *found) lacks() string {
	var values []string
	for table, rights := range needed {
		for right := range strings.SplitSeq(rights, ", ") {
			if f.there[table] {
				values = append(values, "('"+f.st.cfg.table(suffixes[table])+"', '"+right+"')")
			}
		}
	}
	if values == nil {
		return "SELECT ''"
	}
	return "SELECT COALESCE(string_agg(n.privilege || ' on ' || n.name, ', '), '') FROM (VALUES " + strings.Join(values, ", ") + ") n (name, privilege)" +
		" WHERE NOT has_table_privilege(n.name, n.privilege)"
}

// hidden is the error for a table of PostgreSQL that exists and that the role does not see.
func (s *Store) hidden(ctx context.Context, cfg Config, suffix string) error {
	if cfg.Dialect != Postgres {
		return nil
	}
	query := "SELECT COALESCE(MIN(CAST(n.nspname AS TEXT)), '') FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = '" + cfg.name(suffix) +
		"' AND NOT has_schema_privilege(n.oid, 'USAGE')"
	if cfg.schema() != "" {
		query += " AND n.nspname = '" + cfg.schema() + "'"
	}
	var schema string
	if err := s.db.QueryRowContext(ctx, query).Scan(&schema); err != nil || schema == "" {
		return nil //nolint:nilerr // the caller's error says enough
	}
	return driver.Permanent(fmt.Errorf("sqlstore: the role does not see the table %s, which is there: it lacks USAGE on the schema %q: GRANT it", cfg.table(suffix), schema))
}
