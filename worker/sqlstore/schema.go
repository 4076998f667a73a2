package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// namespace sees to it that the namespace is recorded, with its layout, in this schema of PostgreSQL and
// in no other. It reports false if another call was the first to record it.
//
// That is done under a lock, so of two first claims at the same time in two schemas, one is refused.
// Both are if one of the tables is being created meanwhile, or in sessions whose isolation hides what
// the lock has waited for: each looks once more after its commit.
func (s *Store) namespace(ctx context.Context, x session, r driver.Request, isNew bool) (ok bool, err error) {
	if _, known := s.alone.Load(r.Namespace); known && !isNew {
		return true, nil
	}
	others, err := x.others(ctx, r.Namespace)
	if err != nil {
		return false, err
	}
	if isNew {
		query, args := x.addNamespace, []any{r.Namespace, r.Layout}
		for _, other := range others {
			query += " AND NOT EXISTS (SELECT 1 FROM " + other + " WHERE space = ?)"
			args = append(args, r.Namespace)
		}
		if added, err := x.exec(ctx, query+" ON CONFLICT DO NOTHING", args...); !added || err != nil {
			return false, err
		}
		if _, err = x.others(ctx, r.Namespace); err != nil {
			return true, err
		}
	}
	s.alone.Store(r.Namespace, true)
	return true, nil
}

// lockNamespaces locks the namespaces of a database of PostgreSQL, whatever the schema, to the end of
// the transaction: its number is "snowkey" in ASCII.
const lockNamespaces = "SELECT pg_advisory_xact_lock(32491047082517881); "

// others returns the tables of namespaces in other schemas that this role may use, or an error if one
// of them has the namespace as well: each worker ID would have two holders.
func (x session) others(ctx context.Context, namespace string) (others []string, err error) {
	hidden := "" // one that the role may not read
	err = eachRow(ctx, x.conn, func(rows *sql.Rows) error {
		var name string
		var readable bool
		err := rows.Scan(&name, &readable)
		if others = append(others, name); !readable {
			hidden = name
		}
		return err
	}, "SELECT quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)), has_table_privilege(c.oid, 'SELECT')"+
		" FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"+
		" WHERE c.relname = '"+x.cfg.name("_space")+"' AND n.nspname <> '"+x.cfg.schema()+"' AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't'"+
		" AND has_schema_privilege(n.oid, 'USAGE') AND (SELECT COUNT(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('space', 'layout')) = 2"+
		" ORDER BY 1", x.simple...)
	if err != nil || len(others) == 0 {
		return nil, err
	}
	if hidden != "" {
		return nil, fields.Error("sqlstore", "Table", x.cfg.Table, "%s of the same database may have namespace %q as well, and each worker ID two holders: GRANT SELECT on it to this role, so that the store can look", hidden, namespace)
	}
	has := make([]string, len(others))
	for i, other := range others {
		has[i] = "SELECT " + literal(other) + " WHERE EXISTS (SELECT 1 FROM " + other + " WHERE space = " + literal(namespace) + ")"
	}
	var found string
	err = eachRow(ctx, x.conn, func(rows *sql.Rows) error { return rows.Scan(&found) }, strings.Join(has, " UNION ALL "), x.simple...)
	if err == nil && found != "" {
		err = fields.Error("sqlstore", "Table", x.cfg.Table, "%s of the same database has namespace %q as well, so each worker ID would have two holders: set Table to one schema in all programs, or give this one a namespace of its own", found, namespace)
	}
	return others, err
}
