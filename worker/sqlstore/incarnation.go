package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore/internal/file"
)

// An incarnation says which server answers, in which of its lives; see package driver. A statement
// contains what computes it, so a write checks that of the server that executes it.
type incarnation struct {
	sql      string   // an expression; "": that of a file, which Go looks at before each statement
	parts    []string // what it consists of
	path     string   // of SQLite's file
	inMemory bool
}

// present returns the expression for the incarnation of the server that executes a statement.
func (x session) present() (string, error) {
	if x.incarnation.path == "" {
		return x.incarnation.sql, nil
	}
	id, err := file.ID(x.incarnation.path)
	if err != nil {
		return "", fmt.Errorf("look at the database's file: %w", err)
	}
	return x.Dialect.literal(id), nil
}

// A part of an incarnation is what PostgreSQL shows of itself.
type part struct {
	name, sql string
	functions string // which the role must be allowed to call
}

// postgresParts are what PostgreSQL shows. A failover changes the timeline, unless an older standby
// follows, and a crash the time since which statistics are counted, unlike a clean restart. A restore
// into the same server changes the OIDs.
func (cfg Config) postgresParts() []part {
	return []part{
		{"system identifier", "(SELECT system_identifier FROM pg_control_system())", "pg_control_system()"},
		{"timeline", "left(pg_walfile_name(pg_current_wal_lsn()), 8)", "pg_walfile_name(pg_lsn), pg_current_wal_lsn()"},
		{"database", "(SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())", ""},
		{"table", "CAST(to_regclass('" + cfg.table(namespaceTable) + "') AS oid)", ""},
		{"reset of statistics", "CAST(EXTRACT(EPOCH FROM least(pg_stat_get_bgwriter_stat_reset_time(), (SELECT stats_reset FROM pg_catalog.pg_stat_archiver))) * 1000000 AS BIGINT)", "pg_stat_get_bgwriter_stat_reset_time()"},
	}
}

// startPart is for servers that show neither timeline nor statistics. Each restart changes it.
var startPart = part{"start", "CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000 AS BIGINT)", ""}

// joined returns the incarnation of these parts.
func joined(parts []part) (inc incarnation) {
	var values []string
	for _, p := range parts {
		values, inc.parts = append(values, "CAST("+p.sql+" AS TEXT)"), append(inc.parts, p.name)
	}
	inc.sql = "(SELECT concat_ws(' ', " + strings.Join(values, ", ") + "))"
	return inc
}

// findPostgres finds out what the server shows. Some are only compatible with PostgreSQL, and refuse a
// function to everyone: the part is left out. A right that only this role lacks is an error: all
// programs must compute the same.
func (x session) findPostgres(ctx context.Context) (inc incarnation, err error) {
	all := x.postgresParts()
	var value sql.NullString
	if x.row(ctx, "SELECT "+joined(all).sql, &value) == nil {
		return joined(all), nil
	}
	var standby bool
	if err := x.row(ctx, "SELECT pg_is_in_recovery()", &standby); err != nil && !unknown(err) {
		return inc, fmt.Errorf("ask whether the server is a standby: %w", x.explained(err))
	} else if standby {
		return inc, errStandby
	}
	var shown []part
	start := true
	for _, p := range append(all, startPart) {
		if p == startPart && !start {
			break
		}
		err := x.row(ctx, "SELECT CAST("+p.sql+" AS TEXT)", &value)
		switch {
		case denied(err):
			return inc, fmt.Errorf("ask for the %s of the server: %w; GRANT EXECUTE ON FUNCTION %s TO %s", p.name, err, p.functions, x.role(ctx))
		case err != nil && retry.SQLState(err) == "":
			return inc, fmt.Errorf("ask for the %s of the server: %w", p.name, err)
		case err == nil && (value.Valid || p.name == "table"): // which this store may be about to create
			shown = append(shown, p)
			start = start && p.name != "timeline" && p.name != "reset of statistics"
		}
	}
	return joined(shown), nil
}

// findMySQL finds out what the server shows. The start is computed of two values of the same moment,
// so neither a clock that was set nor SET timestamp changes it. Members of a cluster share what
// identifies that.
func (x session) findMySQL(ctx context.Context, has variables) (inc incarnation, err error) {
	id := "@@server_uuid"
	if x.mariaDB {
		id = "@@server_id"
		if has["server_uid"] != "" {
			id = "@@server_uid, ' ', @@server_id"
		}
	}
	switch {
	case x.vitess:
		return incarnation{sql: "CONVERT('vitess' USING ascii) COLLATE ascii_bin", parts: []string{"constant: Vitess shows nothing that its servers share"}}, nil
	case has["wsrep_on"] == "ON":
		inc = incarnation{sql: "(SELECT variable_value FROM " + x.globalStatus() + " WHERE variable_name = 'wsrep_cluster_state_uuid')", parts: []string{"state UUID of the Galera cluster"}}
	case has["group_replication_group_name"] != "":
		inc = incarnation{sql: "@@group_replication_group_name", parts: []string{"group name of Group Replication"}}
	default:
		created := "COALESCE((SELECT UNIX_TIMESTAMP(create_time) FROM information_schema.tables WHERE table_schema = '" + x.schema() + "' AND table_name = '" + x.name(namespaceTable) + "'), 0)"
		inc = incarnation{
			sql: "CONCAT(" + id + ", ' ', CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST((SELECT variable_value FROM " + x.globalStatus() +
				" WHERE variable_name = 'Uptime') AS SIGNED), ' ', " + created + ")",
			parts: []string{"server ID", "start", "creation of the table"},
		}
	}
	inc.sql = "CONVERT(" + inc.sql + " USING ascii) COLLATE ascii_bin" // as the columns
	var value sql.NullString
	if err := x.row(ctx, "SELECT "+inc.sql, &value); err != nil || value.String == "" {
		return inc, fmt.Errorf("ask for the %s of the server (%q): %w", inc.parts[0], value.String, cmp.Or(err, errNoAnswer))
	}
	return inc, nil
}

func (s *server) globalStatus() string {
	if s.mariaDB {
		return "information_schema.global_status"
	}
	return "performance_schema.global_status"
}

// pragma returns one of SQLite, of the schema of the tables.
func (s *server) pragma(name string) string { return `PRAGMA "` + s.schema() + `".` + name }

// findSQLite looks at the file of the database. One without a file is in memory: what it has recorded
// names it.
func (x session) findSQLite(ctx context.Context) (inc incarnation, err error) {
	err = x.each(ctx, func(databases *sql.Rows) error {
		var name string
		var path sql.NullString
		err := databases.Scan(new(int), &name, &path)
		if strings.EqualFold(name, x.schema()) {
			inc.path = path.String
		}
		return err
	}, "PRAGMA database_list")
	if err != nil {
		return inc, fmt.Errorf("ask for the database's file: %w", err)
	}
	if inc.path == "" {
		inc.inMemory, inc.parts = true, []string{"database in memory"}
		inc.sql = "COALESCE((SELECT incarnation FROM " + x.table(namespaceTable) + " WHERE namespace = '" + indexName + "'), '" + x.store.nonce + "')"
		return inc, nil
	}
	inc.parts = []string{"file, its birth, and the start of the machine"}
	var mode string
	if err := x.row(ctx, x.pragma("journal_mode"), &mode); err != nil {
		return inc, fmt.Errorf("ask for the journal_mode: %w", err)
	}
	if mode == "wal" { // its other files are found by the path
		err = file.CheckAlone(inc.path)
	}
	return inc, err
}

// checkFile is called before the store would note that another file, or none, was recorded. In WAL mode,
// a connection goes on with a file that was deleted, and shows the past of the new one.
func (x session) checkFile(recorded string) error {
	if path := x.incarnation.path; path != "" && file.OpensOther(path, recorded) {
		return errReplaced
	}
	return nil
}

// sameMemory returns an error if two connections have two databases in memory.
func (x session) sameMemory(index driver.State) error {
	m := &x.store.memory
	if !x.incarnation.inMemory || index.Missing && m.Load() == nil || m.CompareAndSwap(nil, index.Server) || m.Load() == index.Server {
		return nil
	}
	return errPrivate
}

// checkShared returns an error if each connection of the pool has a database in memory of its own.
func (x session) checkShared(ctx context.Context) error {
	if x.store.db.Stats().OpenConnections < 2 {
		return nil
	}
	other, err := x.store.db.Conn(ctx)
	if err != nil {
		return x.store.waitError(ctx, err)
	}
	defer other.Close()
	missing, err := session{&server{Config: x.Config}, other, x.store, false}.inspectTables(ctx, leaseTables)
	if err == nil && len(missing) > 0 {
		err = errPrivate
	}
	return err
}

// isFresh reports whether the database has, and had, no tables but the store's, and each of them once
// only. PostgreSQL counts deleted tables some seconds late. Either nothing was made between the database
// and the table, or no session was active that has not counted yet.
func (x session) isFresh(ctx context.Context) (fresh bool, err error) {
	var names []string
	for t := range tables {
		names = append(names, "'"+x.name(t)+"'")
	}
	ours := strings.Join(names, ", ")
	switch x.Dialect {
	case SQLite:
		var version, made int64
		if err = x.row(ctx, x.pragma("schema_version"), &version); err == nil { // counts all changes
			err = x.row(ctx, `SELECT COUNT(*) FROM "`+x.schema()+`".sqlite_master WHERE type = 'table' AND name IN (`+ours+")", &made)
		}
		st := x.store.db.Stats()
		gone := x.incarnation.inMemory && st.MaxIdleClosed+st.MaxIdleTimeClosed+st.MaxLifetimeClosed > 0 // a connection takes its database with it
		return version == made && !gone, err
	case MySQL:
		if x.vitess {
			return false, nil
		}
		err = x.row(ctx, "SELECT NOT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = '"+x.schema()+"' AND table_name NOT IN ("+ours+"))"+
			" AND NOT EXISTS (SELECT 1 FROM "+x.globalStatus()+" WHERE variable_name IN ('Com_drop_table', 'Com_drop_db') AND variable_value <> '0')", &fresh)
		return fresh, err
	}
	counted := ""
	if x.row(ctx, "SELECT CAST(pg_stat_force_next_flush() AS TEXT)", &counted) != nil { // as old versions do, which do not count what this session has deleted
		counted = "1 = 0 AND "
	}
	err = x.row(ctx, "SELECT NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'm', 'f') AND c.oid >= 16384 AND c.relname NOT IN ("+ours+")"+
		" AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = CAST('pg_catalog.pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e'))"+
		" AND EXISTS (SELECT 1 FROM pg_catalog.pg_stat_sys_tables WHERE relid = CAST('pg_catalog.pg_class' AS regclass) AND n_tup_del = 0)"+
		" AND EXISTS (SELECT 1 FROM pg_catalog.pg_database d WHERE d.datname = current_database() AND (CAST(CAST(to_regclass('"+x.table(namespaceTable)+"') AS oid) AS BIGINT) = GREATEST(CAST(d.oid AS BIGINT), 16383) + 1"+
		" OR "+counted+"NOT EXISTS (SELECT 1 FROM pg_catalog.pg_stat_activity a WHERE a.datid = d.oid AND a.pid <> pg_backend_pid() AND COALESCE(a.state_change, clock_timestamp()) > clock_timestamp() - INTERVAL '15 s')))", &fresh)
	if unknown(err) {
		return false, nil
	}
	return fresh, err
}
