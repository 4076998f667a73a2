package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// addNamespace records a namespace and its layout, unless that is done. In PostgreSQL, one at a
// time in the whole database: so of two claims that are the first in two schemas, the second
// finds the first.
func (s *Store) addNamespace(ctx context.Context, st *statements, namespace, layout string) error {
	add := func(conn *sql.Conn) error {
		_, err := st.change(ctx, conn, st.addNamespace, namespace, layout)
		return err
	}
	if st.cfg.Dialect != Postgres {
		return s.commit(ctx, st, add)
	}
	return s.commit(ctx, st, func(conn *sql.Conn) error {
		if err := st.refused(ctx, conn); err != nil {
			return err
		}
		return inTransaction(ctx, conn, brackets[Postgres], func() error {
			if _, err := conn.ExecContext(ctx, lockNamespaces); err != nil {
				return err
			}
			if err := st.alone(ctx, conn, namespace); err != nil {
				return err
			}
			return add(conn)
		})
	})
}

// lockNamespaces locks the namespaces of a database of PostgreSQL, whatever the schema: its number is
// "snowkey" in ASCII.
const lockNamespaces = waitForCommit + ", pg_advisory_xact_lock(32491047082517881)"

// checkAlone is alone, once for each namespace.
func (s *Store) checkAlone(ctx context.Context, st *statements, namespace string) error {
	if _, known := s.alone.Load(namespace); known || st.cfg.Dialect != Postgres {
		return nil
	}
	err := s.onConnection(ctx, func(conn *sql.Conn) error { return st.alone(ctx, conn, namespace) })
	if err == nil {
		s.alone.Store(namespace, true)
	}
	return err
}

// alone returns an error if another schema that this role may use has the namespace as well: each
// worker ID would have two holders.
func (st *statements) alone(ctx context.Context, conn *sql.Conn, namespace string) error {
	type other struct {
		table    string
		readable bool
	}
	var others []other
	err := eachRow(ctx, conn, func(rows *sql.Rows) error {
		var o other
		err := rows.Scan(&o.table, &o.readable)
		others = append(others, o)
		return err
	}, "SELECT quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)), has_table_privilege(c.oid, 'SELECT')"+
		" FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"+
		" WHERE c.relname = '"+st.cfg.name("_space")+"' AND n.nspname <> '"+st.cfg.schema()+"' AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't'"+
		" AND has_schema_privilege(n.oid, 'USAGE') AND (SELECT COUNT(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('space', 'layout')) = 2"+
		" ORDER BY 1", st.simple...)
	if err != nil {
		return fmt.Errorf("sqlstore: look for namespace %q in other schemas: %w", namespace, err)
	}
	for _, o := range others {
		var has bool
		query, args := st.bind("SELECT EXISTS (SELECT 1 FROM "+o.table+" WHERE space = ?)", []any{namespace})
		switch {
		case !o.readable:
			return fields.Error("sqlstore", "Table", st.cfg.Table, "%s of the same database may have namespace %q as well, and each worker ID two holders: GRANT SELECT on it to this role, so that the store can look", o.table, namespace)
		default:
			if err := conn.QueryRowContext(ctx, query, append(st.simple, args...)...).Scan(&has); err != nil {
				return fmt.Errorf("sqlstore: look for namespace %q in %s: %w", namespace, o.table, err)
			}
		}
		if has {
			return fields.Error("sqlstore", "Table", st.cfg.Table, "%s of the same database has namespace %q as well, so each worker ID would have two holders: set Table to one schema in all programs, or give this one a namespace of its own", o.table, namespace)
		}
	}
	return nil
}
