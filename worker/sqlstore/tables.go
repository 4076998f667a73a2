package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
var rights = [...]string{"SELECT", "INSERT", "UPDATE"}

// prepareTables creates the tables that are missing, and checks that a crash keeps them. It notes
// in ready each one that passes.
func (x session) prepareTables(ctx context.Context, wanted []table, ready *[tables]bool) error {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(t table) bool { return ready[t] })
	missing, err := x.inspectTables(ctx, wanted, ready)
	switch {
	case denied(err) && x.cfg.Dialect == Postgres:
		return fmt.Errorf("%w: the role lacks USAGE on the schema %q: GRANT it", err, x.cfg.schema())
	case denied(err): // MySQL returns this also for a table that does not exist
		return x.forbidden(ctx, "look at", wanted, err)
	case err != nil || len(missing) == 0:
		return err
	case x.cfg.NoCreate:
		return x.forbidden(ctx, "find", missing, errMissing)
	}
	if missing[0] == namespaceTable && len(missing) == len(leaseTables) {
		fresh, err := x.isFresh(ctx)
		if err != nil {
			return fmt.Errorf("sqlstore: ask whether the database is new: %w", err)
		}
		x.store.fresh.Store(fresh)
	}
	var refused error // of the first one
	for _, t := range missing {
		_, err := x.conn.ExecContext(ctx, x.cfg.ddl()[t])
		refused = cmp.Or(refused, err)
	}
	// Another process may have created them meanwhile, with other settings.
	missing, err = x.inspectTables(ctx, missing, ready)
	if err == nil && len(missing) > 0 {
		err = x.notCreated(ctx, missing, refused)
	}
	return err
}

var errMissing = driver.Permanent(errors.New("it does not exist, and NoCreate is set"))

// notCreated is the error if the first of the missing tables could not be created, because of err.
func (x session) notCreated(ctx context.Context, missing []table, err error) error {
	table := x.cfg.table(missing[0])
	switch {
	case err == nil:
		return fmt.Errorf("sqlstore: the table %s was created, but does not exist", table)
	case denied(err):
		return x.forbidden(ctx, "create", missing, err)
	case retry.SQLState(err) == "3F000":
		return fmt.Errorf("sqlstore: create the table %s: there is no such schema: create it, or set Table to one that there is, such as app.snow_lease, in all programs that share worker IDs: %w", table, err)
	}
	return fmt.Errorf("sqlstore: create the table %s by %s: %w", table, x.cfg.ddl()[missing[0]], err)
}

// inspectTables notes in ready which of these tables exist, and returns the others. A temporary
// table of MySQL is an error: it hides the one that is meant. So is a table that a crash of the server
// may empty whatever its settings are, and a table of an older version.
func (x session) inspectTables(ctx context.Context, wanted []table, ready *[tables]bool) (missing []table, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := x.checkOld(ctx); err != nil {
		return nil, err
	}
	inspect := map[Dialect]func(context.Context, []table) ([tables]bool, error){Postgres: x.inspectPostgres, MySQL: x.inspectMySQL, SQLite: x.inspectSQLite}
	exists, err := inspect[x.cfg.Dialect](ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, t := range wanted {
		if ready[t] = exists[t]; !ready[t] {
			missing = append(missing, t)
		}
	}
	return missing, nil
}

func (x session) inspectSQLite(ctx context.Context, wanted []table) (exists [tables]bool, err error) {
	err = x.each(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		for _, t := range wanted {
			exists[t] = exists[t] || strings.EqualFold(name, x.cfg.name(t))
		}
		return err
	}, `SELECT name FROM "`+x.cfg.schema()+`".sqlite_master WHERE type = 'table'`)
	if err != nil {
		err = fmt.Errorf("sqlstore: ask for the tables of the schema %q: %w", x.cfg.schema(), err)
	}
	return exists, err
}

// inspectPostgres looks at the tables and all their partitions by one query.
func (x session) inspectPostgres(ctx context.Context, wanted []table) (exists [tables]bool, err error) {
	values := make([]string, len(wanted))
	for i, t := range wanted {
		values[i] = "(" + strconv.Itoa(int(t)) + ", CAST(to_regclass('" + x.cfg.table(t) + "') AS oid))"
	}
	var refused error
	err = x.each(ctx, func(rows *sql.Rows) error {
		var t table
		var name, persistence string
		err := rows.Scan(&t, &name, &persistence)
		switch {
		case err != nil || refused != nil:
			return err
		case persistence != "p":
			refused = &driver.DurabilityError{Setting: "relpersistence of the table " + name, Value: persistence, Want: "p, a table that is logged"}
		}
		exists[t] = true
		return nil
	}, "WITH RECURSIVE tree (n, oid) AS (VALUES "+strings.Join(values, ", ")+" UNION "+
		"SELECT t.n, i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid) "+
		"SELECT DISTINCT ON (t.n) t.n, CAST(CAST(c.oid AS regclass) AS TEXT), CAST(c.relpersistence AS TEXT) FROM pg_catalog.pg_class c JOIN tree t ON c.oid = t.oid "+
		"ORDER BY t.n, c.relpersistence = 'p'")
	if err != nil {
		return exists, fmt.Errorf("sqlstore: ask whether the tables %s are logged: %w", x.cfg.table(recordTable), err)
	}
	return exists, refused
}

// engineOf finds the engine in SHOW CREATE TABLE. The lines of the columns begin with a blank.
var engineOf = regexp.MustCompile(`(?m)^\) ENGINE=(\w+)`)

// inspectMySQL looks at tables by SHOW CREATE TABLE, which begins no transaction and keeps no
// lock. No other statement shows temporary tables.
func (x session) inspectMySQL(ctx context.Context, wanted []table) (exists [tables]bool, err error) {
	for _, t := range wanted {
		if exists[t], err = x.existsInMySQL(ctx, t); err != nil {
			return exists, err
		}
	}
	return exists, nil
}

func (x session) existsInMySQL(ctx context.Context, t table) (exists bool, err error) {
	table := x.cfg.table(t)
	text, err := x.showCreate(ctx, table)
	switch {
	case err != nil && retry.MySQLNumber(err) == noTable:
		return false, nil
	case denied(err):
		return false, err
	case x.vitess && hasText(err, " not found"):
		return false, fields.Error("sqlstore", "Table", table, "is in a sharded keyspace of Vitess, which does not know it (%v): give the store a pool that selects an unsharded keyspace", err)
	case err != nil:
		return false, fmt.Errorf("sqlstore: look at the table %s: %w", table, err)
	case strings.HasPrefix(text, "CREATE TEMPORARY"):
		return false, fields.Error("sqlstore", "Table", table, "is a temporary table of this session, which others do not see: drop it, or give the store a pool of its own")
	}
	var engine string
	if found := engineOf.FindStringSubmatch(text); found != nil {
		engine = found[1]
	} else if engine, err = x.listedEngine(ctx, x.cfg.name(t)); err != nil { // sql_mode hides it, or it is a view
		return false, fmt.Errorf("sqlstore: ask for the engine of the table %s: %w", table, err)
	}
	if !strings.EqualFold(engine, "InnoDB") {
		return false, &driver.DurabilityError{Setting: "engine of the table " + table, Value: fmt.Sprintf("%q", engine), Want: "InnoDB"}
	}
	return true, nil
}

// showCreate returns the statement that would create a table.
func (x session) showCreate(ctx context.Context, table string) (text string, err error) {
	err = x.each(ctx, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		texts := make([]sql.NullString, max(len(columns), 2)) // a view has more
		into := make([]any, len(columns))
		for i := range columns {
			into[i] = &texts[i]
		}
		err = rows.Scan(into...)
		text = texts[1].String
		return err
	}, "SHOW CREATE TABLE "+table)
	return text, err
}

// listedEngine returns the engine of a table in information_schema. Two tables may have names
// that differ in case only; then it is the one that is not InnoDB, if there is one.
func (x session) listedEngine(ctx context.Context, name string) (engine string, err error) {
	err = x.each(ctx, func(rows *sql.Rows) error {
		if engine != "" && engine != "InnoDB" {
			return nil
		}
		return rows.Scan(&engine)
	}, "SELECT COALESCE(engine, '') FROM information_schema.tables WHERE table_schema = '"+x.cfg.schema()+"' AND table_name = '"+name+"'")
	return engine, err
}

// checkOld returns an error if there are tables of a version that was never released, whose worker IDs
// programs may still hold.
func (x session) checkOld(ctx context.Context) error {
	if x.cfg.name(recordTable) != "snow_lease" {
		return nil
	}
	old := x.cfg.quoted("snow_worker_space")
	exists, query := x.cfg.Dialect != Postgres, "SELECT 1 FROM "+old+" WHERE 1 = 0" // which is no error if the table exists
	if !exists {
		query = "SELECT 1 WHERE to_regclass('" + old + "') IS NOT NULL"
	}
	if err := x.each(ctx, func(*sql.Rows) error { exists = true; return nil }, query); err != nil || !exists {
		return ctx.Err()
	}
	return driver.Permanent(fmt.Errorf("sqlstore: %s and %s are tables of an older version, which shares no worker IDs with this one: drop them when no program uses them", old, x.cfg.quoted("snow_worker")))
}

// checkSchemas returns an error if a namespace is also in another schema of PostgreSQL which this role
// may use: each worker ID would have two holders. It looks before the namespace is recorded, and once
// more afterwards: of two that are recorded at once, at least one is refused.
func (x session) checkSchemas(ctx context.Context, namespace string, recorded bool) error {
	if _, known := x.store.alone.Load(namespace); known || x.cfg.Dialect != Postgres {
		return nil
	}
	var others []string
	hidden := "" // one that the role may not read
	err := x.each(ctx, func(rows *sql.Rows) error {
		var name string
		var readable bool
		err := rows.Scan(&name, &readable)
		if others = append(others, "SELECT "+literal(name)+" WHERE EXISTS (SELECT 1 FROM "+name+" WHERE namespace = "+literal(namespace)+" AND version > 0)"); !readable {
			hidden = name
		}
		return err
	}, "SELECT quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)), has_table_privilege(c.oid, 'SELECT')"+
		" FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"+
		" WHERE c.relname = '"+x.cfg.name(namespaceTable)+"' AND n.nspname <> '"+x.cfg.schema()+"' AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't'"+
		" AND has_schema_privilege(n.oid, 'USAGE') AND (SELECT COUNT(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('namespace', 'incarnation')) = 2"+
		" ORDER BY 1")
	if hidden != "" {
		return fields.Error("sqlstore", "Table", x.cfg.Table, "%s of the same database may have namespace %q as well, and each worker ID two holders: GRANT SELECT on it to this role, so that the store can look", hidden, namespace)
	}
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
