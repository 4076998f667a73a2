package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore/internal/file"
)

// An incarnation says which server answers, in which of its lives; see package driver. Each statement
// computes it, so a write checks the incarnation of the server that executes it.
type incarnation struct {
	sql      string   // an expression; "": Go looks at the file before each statement
	parts    []string // what it consists of
	path     string   // of SQLite's file
	file     string   // the file's ID when the store first saw it
	inMemory bool
}

// present returns the expression for the incarnation of the server that executes a statement. It returns
// an error if SQLite's file was replaced: in WAL mode, a connection keeps using the deleted file, and
// shows outdated data.
func (x session) present() (string, error) {
	if x.incarnation.path == "" {
		return x.incarnation.sql, nil
	}
	id, err := file.ID(x.incarnation.path)
	switch {
	case err != nil:
		return "", fmt.Errorf("look at the database's file: %w", err)
	case id != x.incarnation.file:
		return "", errReplaced
	}
	return x.literal(id), nil
}

// findPostgres finds out what the server shows. Servers that are only compatible with PostgreSQL may refuse
// a function to every role: then the start of the server replaces what they do not show. A privilege that
// only this role lacks is an error, because all programs must compute the same incarnation.
func (x session) findPostgres(ctx context.Context) (incarnation, error) {
	all := incarnation{
		sql:   x.PostgresIncarnation(),
		parts: []string{"system identifier", "timeline", "database", "table", "reset of statistics"},
	}
	var value string
	for range 2 { // a promotion may end between the queries
		err := x.queryRow(ctx, "SELECT "+all.sql, &value)
		if !slices.Contains([]string{"0A000", "42883", "55000"}, retry.SQLState(err)) {
			return all, x.explained(err) // an error that passes must not decide
		}
		var standby bool
		if x.queryRow(ctx, "SELECT pg_is_in_recovery()", &standby) == nil && standby {
			return all, errStandby
		}
	}
	some := incarnation{
		sql:   "(SELECT concat_ws(' ', " + x.OIDs() + ", CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000 AS BIGINT)))",
		parts: []string{"database", "table", "start"},
	}
	return some, x.explained(x.queryRow(ctx, "SELECT "+some.sql, &value))
}

// findMySQL finds out what the server shows. The start is computed from two values of the same moment, so
// neither a clock that was set nor SET timestamp changes it. Members of a cluster share its identifier.
func (x session) findMySQL(ctx context.Context, has variables) (inc incarnation, err error) {
	id := "@@server_uuid"
	if x.mariaDB {
		id = "@@server_id"
		if has["server_uid"] != "" {
			id = "@@server_uid, ' ', @@server_id"
		}
	}
	switch {
	case has["wsrep_on"] == "ON":
		inc = incarnation{sql: "(SELECT variable_value FROM " + x.globalStatus() + " WHERE variable_name = 'wsrep_cluster_state_uuid')", parts: []string{"state UUID of the Galera cluster"}}
	case has["group_replication_group_name"] != "":
		inc = incarnation{sql: "@@group_replication_group_name", parts: []string{"group name of Group Replication"}}
	default:
		created := "COALESCE((SELECT UNIX_TIMESTAMP(create_time) FROM information_schema.tables WHERE table_schema = '" + x.Schema + "' AND table_name = '" + x.Name(leasetables.Namespaces) + "'), 0)"
		inc = incarnation{
			sql: "CONCAT(" + id + ", ' ', CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST((SELECT variable_value FROM " + x.globalStatus() +
				" WHERE variable_name = 'Uptime') AS SIGNED), ' ', " + created + ")",
			parts: []string{"server ID", "start", "creation of the table"},
		}
	}
	inc.sql = "CONVERT(" + inc.sql + " USING ascii) COLLATE ascii_bin" // like the columns
	var value sql.NullString
	if err := x.queryRow(ctx, "SELECT "+inc.sql, &value); err != nil || value.String == "" {
		return inc, cmp.Or(err, errNoAnswer)
	}
	return inc, nil
}

func (s *server) globalStatus() string {
	if s.mariaDB {
		return "information_schema.global_status"
	}
	return "performance_schema.global_status"
}

// pragma returns the SQLite pragma with that name, for the schema of the tables.
func (s *server) pragma(name string) string { return `PRAGMA "` + s.Schema + `".` + name }

// findSQLite looks at the file of the database. A database without a file is in memory: the incarnation
// recorded in it identifies it.
func (x session) findSQLite(ctx context.Context) (inc incarnation, err error) {
	var path sql.NullString
	if err := x.queryRow(ctx, "SELECT file FROM pragma_database_list WHERE name = '"+x.Schema+"' COLLATE NOCASE", &path); err != nil {
		return inc, fmt.Errorf("ask for the database's file: %w", err)
	}
	inc.path = path.String
	if inc.path == "" {
		inc.inMemory, inc.parts = true, []string{"database in memory"}
		inc.sql = "COALESCE((SELECT incarnation FROM " + x.Quoted(leasetables.Namespaces) + " WHERE namespace = '" + indexName + "'), 'memory " + rand.Text() + "')"
		return inc, nil
	}
	inc.parts = []string{"file, its birth, and the start of the machine"}
	if inc.file, err = file.ID(inc.path); err != nil {
		return inc, err
	}
	mode, err := x.journalMode(ctx)
	if err == nil && mode == "wal" { // SQLite finds the other files by the path
		err = file.CheckAlone(inc.path)
	}
	return inc, err
}

func (x session) journalMode(ctx context.Context) (mode string, err error) {
	if err = x.queryRow(ctx, x.pragma("journal_mode"), &mode); err != nil {
		err = fmt.Errorf("ask for the journal_mode: %w", err)
	}
	return mode, err
}

// sameMemory returns an error if two connections have different databases in memory.
func (x session) sameMemory(index driver.State) error {
	m := &x.store.memory
	if !x.incarnation.inMemory || index.Missing && m.Load() == nil || m.CompareAndSwap(nil, index.Server) || m.Load() == index.Server {
		return nil
	}
	return errPrivate
}

// checkShared returns an error if each connection of the pool has a separate database in memory.
func (x session) checkShared(ctx context.Context) error {
	if x.store.db.Stats().OpenConnections < 2 {
		return nil
	}
	other, err := x.store.db.Conn(ctx)
	if err != nil {
		return x.store.waitError(ctx, err)
	}
	defer other.Close()
	x.conn = other
	missing, err := x.inspectTables(ctx, leaseTables)
	if err == nil && len(missing) > 0 {
		err = errPrivate
	}
	return err
}

// fresh returns an expression that is true if the database has, and had, no tables but the store's, each
// made only once. PostgreSQL counts deleted tables some seconds late. So either nothing was made between
// the database and the table, or no session was recently active that may not have counted yet.
func (x session) fresh(ctx context.Context) string {
	ours := "('" + x.Name(leasetables.Namespaces) + "', '" + x.Name(leasetables.Records) + "', '" + x.Name(leasetables.Claims) + "', '" + x.Name(leasetables.Counters) + "')"
	switch x.Dialect {
	case ddl.SQLite:
		if st := x.store.db.Stats(); x.incarnation.inMemory && st.MaxIdleClosed+st.MaxIdleTimeClosed+st.MaxLifetimeClosed > 0 {
			return "1 = 0" // a connection takes its database with it
		}
		var version int64 // counts all changes
		if x.queryRow(ctx, x.pragma("schema_version"), &version) != nil {
			return "1 = 0"
		}
		return fmt.Sprint(version) + ` = (SELECT COUNT(*) FROM "` + x.Schema + `".sqlite_master WHERE type = 'table' AND name IN ` + ours + ")"
	case ddl.MySQL:
		return "NOT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = '" + x.Schema + "' AND table_name NOT IN " + ours + ")" +
			" AND NOT EXISTS (SELECT 1 FROM " + x.globalStatus() + " WHERE variable_name IN ('Com_drop_table', 'Com_drop_db') AND variable_value <> '0')"
	}
	counted := ""
	if x.queryRow(ctx, "SELECT CAST(pg_stat_force_next_flush() AS TEXT)", new(string)) != nil { // old versions fail: they do not count what this session has deleted
		counted = "1 = 0 AND "
	}
	return leasetables.PostgresUntouched(ours) + " AND EXISTS (SELECT 1 FROM pg_catalog.pg_database d WHERE d.datname = current_database()" +
		" AND (CAST(CAST(to_regclass('" + x.Quoted(leasetables.Namespaces) + "') AS oid) AS BIGINT) = GREATEST(CAST(d.oid AS BIGINT), 16383) + 1" +
		" OR " + counted + leasetables.PostgresQuiet + "))"
}
