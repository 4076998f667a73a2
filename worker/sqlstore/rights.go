package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// forbidden is the error if the role lacks the rights to create or read the tables. It ends
// with the statements that another role has to run.
func (s *Store) forbidden(ctx context.Context, cfg Config, verb string, missing []table, err error) error {
	role, schema := s.role(ctx, cfg)
	var script, grants []string
	for _, t := range missing {
		name := cfg.table(t.suffix())
		full := schema + name // for another role, the name alone may mean another schema
		script = append(script, strings.Replace(cfg.ddl()[t], name, full, 1)+";")
		if role != "" {
			grants = append(grants, "GRANT "+t.rights()+" ON "+full+" TO "+role+";")
		}
	}
	first := schema + cfg.table(missing[0].suffix())
	subject := "the role"
	if role != "" {
		subject += " " + role
	}
	return fmt.Errorf("sqlstore: %s cannot %s the table %s: %w; as a role that may create it, run: %s", subject, verb, first, err, strings.Join(append(script, grants...), " "))
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
	err := s.single(ctx, cfg.Dialect, func(q querier) error { return q.QueryRowContext(ctx, query).Scan(&role, &schema) })
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
	if retry.SQLState(err) == "" || !denied(err) { // MySQL's error names both
		return err
	}
	var missing string
	i := s.inspected.Load()
	if i == nil || s.db.QueryRowContext(ctx, i.missingRights()).Scan(&missing) != nil || missing == "" {
		return err
	}
	return fmt.Errorf("%w; the role lacks %s: GRANT it", err, missing)
}

// missingRights is the query for the rights that the role lacks on the tables that exist.
func (i *inspected) missingRights() string {
	var values []string
	for t := range tables {
		for right := range strings.SplitSeq(t.rights(), ", ") {
			if i.tables[t] {
				values = append(values, "('"+i.st.cfg.table(t.suffix())+"', '"+right+"')")
			}
		}
	}
	if values == nil {
		return "SELECT ''"
	}
	return "SELECT COALESCE(string_agg(n.privilege || ' on ' || n.name, ', '), '') FROM (VALUES " + strings.Join(values, ", ") + ") n (name, privilege)" +
		" WHERE NOT has_table_privilege(n.name, n.privilege)"
}

// hidden returns an error if a table of PostgreSQL exists and the role does not see it.
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
	return driver.Permanent(fmt.Errorf("sqlstore: the role does not see the table %s, which exists: it lacks USAGE on the schema %q: GRANT it", cfg.table(suffix), schema))
}
