package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/internal/permanent"
)

// withRights adds the missing right to PostgreSQL's refusal, which names only the table.
// MySQL's names both.
func (s *Store) withRights(ctx context.Context, err error) error {
	const denied = "42501"
	var state interface{ SQLState() string }
	if err == nil || !errors.As(err, &state) || state.SQLState() != denied {
		return err
	}
	var missing string
	f := s.found.Load()
	if f == nil || s.db.QueryRowContext(ctx, f.lacks()).Scan(&missing) != nil || missing == "" {
		return err
	}
	return fmt.Errorf("%w; the role lacks %s: GRANT it", err, missing)
}

// lacks asks which rights the role does not have on the tables that are there.
func (f *found) lacks() string {
	needed := [tables]string{spaceTable: "SELECT INSERT", workerTable: "SELECT INSERT UPDATE", counterTable: "SELECT INSERT UPDATE"}
	var values []string
	for table, rights := range needed {
		for _, right := range strings.Fields(rights) {
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

// hidden is the error for a table of PostgreSQL that is there, and that the role does not see.
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
	return permanent.Mark(fmt.Errorf("sqlstore: the role does not see the table %s, which is there: it lacks USAGE on the schema %q: GRANT it", cfg.table(suffix), schema))
}
