package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var (
	leaseTables   = []leasetables.Table{leasetables.Namespaces, leasetables.Records}
	counterTables = []leasetables.Table{leasetables.Counters}
)

// has reports whether the tables are known to exist and to survive a crash.
func (s *Store) has(wanted []leasetables.Table) bool {
	return !slices.ContainsFunc(wanted, func(t leasetables.Table) bool { return !s.ready[t].Load() })
}

// prepareTables creates missing tables, and records which tables are ready.
func (x session) prepareTables(ctx context.Context, wanted []leasetables.Table) error {
	if x.store.has(wanted) {
		return nil
	}
	missing, err := x.inspectTables(ctx, wanted)
	switch {
	case err != nil || len(missing) == 0:
		return err
	case x.NoCreate:
		return x.notCreated(missing, errMissing)
	case slices.Contains(missing, leasetables.Records): // the history of claims begins with the first one, or never
		missing = append(missing, leasetables.Claims)
	}
	failed := x.create(ctx, missing)
	if errors.Is(failed, sqldriver.ErrBadConn) {
		return failed
	}
	// Another process may have created them in the meantime, with other settings.
	missing, err = x.inspectTables(ctx, wanted)
	switch {
	case err == nil && len(missing) > 0:
		err = x.notCreated(missing, cmp.Or(failed, errTaken))
	case err == nil && x.incarnation.inMemory:
		err = x.checkShared(ctx)
	}
	return err
}

// create creates tables, in PostgreSQL with one message. If the table of the records never existed, create
// begins the index of the namespaces before it: then no namespace was forgotten.
func (x session) create(ctx context.Context, missing []leasetables.Table) error {
	message := ""
	for i, t := range missing {
		statements := []string{x.Names.DDL()[t]}
		if t == leasetables.Records {
			index, err := x.expand(ctx, maxLockWait, x.freshIndex(ctx))
			if err != nil {
				return err
			}
			statements = []string{index, x.Names.DDL()[t]}
		}
		if x.Dialect == ddl.Postgres {
			if message += strings.Join(statements, "; ") + "; "; i < len(missing)-1 {
				continue
			}
			statements = []string{message}
		}
		for _, statement := range statements {
			if _, err := x.conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

// freshIndex returns the INSERT that begins the index if the database is fresh. A server knows that only
// since its start. If it was put back then, to before the tables were made, the fences that it has forgotten
// were near its start: so the index begins there.
func (x session) freshIndex(ctx context.Context) string {
	started := map[ddl.Dialect]string{
		ddl.SQLite:   "0",
		ddl.MySQL:    "(SELECT CAST({now} - 1000 * variable_value AS SIGNED) FROM " + x.globalStatus() + " WHERE variable_name = 'Uptime')",
		ddl.Postgres: "CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time())*1000 AS BIGINT)",
	}[x.Dialect]
	return x.insertIgnoring("{n}", "namespace, "+namespaceColumns, "'"+indexName+"', '', 0, 0, {server}, "+started+", "+started+", 0, 1"+
		" FROM (SELECT 1 AS one) o WHERE "+x.fresh(ctx)+"{gate}")
}

// notCreated returns the error if tables are missing because of err.
func (x session) notCreated(missing []leasetables.Table, err error) error {
	err = fmt.Errorf("create the table %s: %w", x.Quoted(missing[0]), x.explained(err))
	if !driver.IsPermanent(classified(err)) {
		return err
	}
	script := ""
	for _, t := range missing {
		script += " " + x.Names.DDL()[t] + ";"
	}
	return fmt.Errorf("%w; as a role that may create it, run:%s and GRANT SELECT, INSERT, UPDATE on it to the program's", err, script)
}

// inspectTables records which of the tables exist, and returns the others. It returns an error if a crash
// of the server may empty a table, whatever the server's settings are.
func (x session) inspectTables(ctx context.Context, wanted []leasetables.Table) (missing []leasetables.Table, err error) {
	var names []string
	for _, t := range append([]leasetables.Table{leasetables.Claims}, wanted...) {
		names = append(names, "'"+x.Name(t)+"'")
	}
	lossy := driver.DurabilityError{Setting: "engine of the table ", Want: "InnoDB"}
	text := "SELECT table_name, CASE WHEN engine = 'InnoDB' THEN '-' ELSE COALESCE(engine, 'none') END FROM information_schema.tables WHERE table_schema = '" + x.Schema + "' AND table_name IN (" + strings.Join(names, ", ") + ")"
	switch x.Dialect {
	case ddl.Postgres:
		lossy = driver.DurabilityError{Setting: "relpersistence of the table ", Want: "p, a table that is logged"}
		text = "SELECT CAST(c.relname AS TEXT), CASE c.relpersistence WHEN 'p' THEN '-' ELSE CAST(c.relpersistence AS TEXT) END FROM pg_catalog.pg_class c" +
			" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '" + x.Schema + "' AND c.relkind IN ('r', 'p') AND c.relname IN (" + strings.Join(names, ", ") + ")"
	case ddl.SQLite:
		text = `SELECT name, '-' FROM "` + x.Schema + `".sqlite_master WHERE type = 'table'`
	}
	problems := make(map[string]string) // of the tables that exist
	err = queryRows(ctx, x.conn, func(rows *sql.Rows) error {
		var name, problem string
		err := rows.Scan(&name, &problem)
		problems[strings.ToLower(name)] = problem // MySQL and SQLite may keep another case
		return err
	}, text, x.simple...)
	if err != nil {
		return nil, fmt.Errorf("look for the tables: %w", err)
	}
	x.store.ready[leasetables.Claims].Store(problems[strings.ToLower(x.Name(leasetables.Claims))] != "")
	for _, t := range wanted {
		switch problem := problems[strings.ToLower(x.Name(t))]; problem {
		case "-":
			x.store.ready[t].Store(true)
		case "":
			missing = append(missing, t)
		default:
			lossy.Setting, lossy.Value = lossy.Setting+x.Name(t), problem
			return nil, &lossy
		}
	}
	return missing, nil
}
