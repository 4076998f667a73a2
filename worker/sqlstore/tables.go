package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// table is one of the tables, by its index in DDL.
type table int

const (
	namespaceTable table = iota
	recordTable
	counterTable
	tables // how many there are
)

var (
	leaseTables   = []table{namespaceTable, recordTable}
	counterTables = []table{counterTable}
)

// rights are those that the role needs on each table.
const rights = "SELECT, INSERT, UPDATE"

// oldTable is of a version that was never released, whose worker IDs programs may still hold.
const oldTable = "snow_worker_space"

// prepareTables creates the tables that are missing. It notes in ready each one that passes.
func (x session) prepareTables(ctx context.Context, wanted []table, ready *[tables]bool) error {
	missing, err := x.inspectTables(ctx, wanted, ready)
	switch {
	case err != nil || len(missing) == 0:
		return err
	case x.cfg.NoCreate:
		return x.forbidden(ctx, "find", missing, errMissing)
	}
	perhaps := missing[0] == namespaceTable && len(missing) == len(leaseTables)
	var refused error // of the first one
	for _, t := range missing {
		_, err := x.conn.ExecContext(ctx, x.cfg.ddl()[t])
		if errors.Is(err, sqldriver.ErrBadConn) {
			return err
		}
		refused = cmp.Or(refused, err)
	}
	// Another process may have created them meanwhile, with other settings.
	missing, err = x.inspectTables(ctx, missing, ready)
	switch {
	case err == nil && len(missing) > 0:
		return x.notCreated(ctx, missing, refused)
	case err == nil && x.incarnation.inMemory:
		err = x.checkShared(ctx)
	}
	if err != nil || !perhaps {
		return err
	}
	fresh, err := x.isFresh(ctx)
	if err == nil && fresh { // no namespace was forgotten
		_, err = x.exec(ctx, maxLockWait, x.insert("{n}", "namespace, "+namespaceColumns, "'"+indexName+"', {empty}, 0, 0, {server}, {now}, 0, 0, 1", "1 = 1", 0, 1))
	}
	return err
}

var errMissing = driver.Permanent(errors.New("it does not exist, and NoCreate is set"))

// notCreated is the error if the first of the missing tables could not be created, because of err.
func (x session) notCreated(ctx context.Context, missing []table, err error) error {
	table := x.cfg.table(missing[0])
	switch {
	case err == nil:
		return fmt.Errorf("the table %s was created, but does not exist", table)
	case denied(err):
		return x.forbidden(ctx, "create", missing, err)
	case retry.SQLState(err) == "3F000":
		return fmt.Errorf("create the table %s: there is no such schema: create it, or set Table to one that there is, such as app.snow_lease, in all programs that share worker IDs: %w", table, err)
	}
	return fmt.Errorf("create the table %s by %s: %w", table, x.cfg.ddl()[missing[0]], x.explained(err))
}

// inspectTables notes in ready which of these tables exist, and returns the others. A table that a
// crash of the server may empty, whatever its settings are, is an error.
func (x session) inspectTables(ctx context.Context, wanted []table, ready *[tables]bool) (missing []table, err error) {
	names := "'" + oldTable + "'"
	for _, t := range wanted {
		names += ", '" + x.cfg.name(t) + "'"
	}
	lossy := driver.DurabilityError{Setting: "engine of the table ", Want: "InnoDB"}
	query := "SELECT table_name, CASE WHEN engine = 'InnoDB' THEN '-' ELSE COALESCE(engine, 'none') END FROM information_schema.tables WHERE table_schema = '" + x.cfg.schema() + "' AND table_name IN (" + names + ")" + x.limit
	switch x.cfg.Dialect {
	case Postgres:
		lossy = driver.DurabilityError{Setting: "relpersistence of the table ", Want: "p, a table that is logged"}
		query = "SELECT CAST(c.relname AS TEXT), CASE c.relpersistence WHEN 'p' THEN '-' ELSE CAST(c.relpersistence AS TEXT) END FROM pg_catalog.pg_class c" +
			" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '" + x.cfg.schema() + "' AND c.relkind IN ('r', 'p') AND c.relname IN (" + names + ")"
	case SQLite:
		query = `SELECT name, '-' FROM "` + x.cfg.schema() + `".sqlite_master WHERE type = 'table'`
	}
	old := false
	exists := make(map[string]bool)
	err = x.each(ctx, func(rows *sql.Rows) error {
		var name, problem string
		if err := rows.Scan(&name, &problem); err != nil {
			return err
		}
		name = strings.ToLower(name) // MySQL and SQLite may keep another case
		if old = old || name == oldTable; name != oldTable && problem != "-" {
			lossy.Setting, lossy.Value = lossy.Setting+name, problem
		}
		exists[name] = true
		return nil
	}, query)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for the tables: %w", err)
	case old && strings.EqualFold(x.cfg.name(recordTable), "snow_lease"):
		return nil, driver.Permanent(fmt.Errorf("%s and %s are tables of an older version, which shares no worker IDs with this one: drop them when no program uses them", x.cfg.quoted(oldTable), x.cfg.quoted("snow_worker")))
	case lossy.Value != "":
		return nil, &lossy
	}
	for _, t := range wanted {
		if ready[t] = exists[strings.ToLower(x.cfg.name(t))]; !ready[t] {
			missing = append(missing, t)
		}
	}
	return missing, nil
}

// checkSchemas returns an error if a namespace is also in another schema of PostgreSQL which this role
// may use: each worker ID would have two holders. It looks before the namespace is recorded, and once
// more afterwards: of two that are recorded at once, at least one is refused.
func (x session) checkSchemas(ctx context.Context, namespace string, recorded bool) error {
	if _, known := x.store.alone.Load(namespace); known || x.cfg.Dialect != Postgres {
		return nil
	}
	var others []string
	err := x.each(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		others = append(others, "SELECT "+literal(name)+" WHERE EXISTS (SELECT 1 FROM "+name+" WHERE namespace = "+literal(namespace)+" AND version > 0)")
		return err
	}, "SELECT quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"+
		" WHERE c.relname = '"+x.cfg.name(namespaceTable)+"' AND n.nspname <> '"+x.cfg.schema()+"' AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't'"+
		" AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"+
		" AND (SELECT COUNT(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('namespace', 'incarnation')) = 2 ORDER BY 1")
	found := ""
	if err == nil && len(others) > 0 {
		err = x.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&found) }, strings.Join(others, " UNION ALL "))
	}
	switch {
	case err != nil:
		return err
	case found != "":
		return fields.Error("sqlstore", "Table", x.cfg.Table, "%s of the same database has namespace %q as well, so each worker ID would have two holders: set Table to one schema in all programs, or give this one a namespace of its own", found, namespace)
	case recorded:
		x.store.alone.Store(namespace, true)
	}
	return nil
}
