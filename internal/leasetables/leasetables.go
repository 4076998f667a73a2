// Package leasetables has the tables in which package worker/sqlstore keeps leases and counters, for
// that package and for package ddl, whose generators hold leases too.
package leasetables

import (
	"regexp"
	"strings"
)

// A Table is one of the tables: its index in DDL.
type Table int

// The tables.
const (
	Namespaces Table = iota
	Records
	Claims // the history of the records; optional
	Counters
	Count // how many there are
)

// Names has the names of the tables.
type Names struct {
	Schema string // empty: none
	Lease  string // the table of the records, after which the others are named
	MySQL  bool   // or MariaDB
}

// GeneratorClaim is the prefix of the claim IDs of generators in SQL.
const GeneratorClaim = "sql-generator:"

// valid matches the names that a statement may contain; they are also quoted.
var valid = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,47}\.)?[A-Za-z_][A-Za-z0-9_]{0,47}$`)

// Rule says what Parse accepts.
const Rule = "must be a name of at most 48 letters, digits and _, optionally with a schema and a dot before it"

// Parse returns the names if the table of the records has this name. It reports whether the name is valid.
func Parse(table string) (n Names, ok bool) {
	dot := strings.LastIndexByte(table, '.')
	return Names{Schema: table[:max(dot, 0)], Lease: table[dot+1:]}, valid.MatchString(table)
}

// Name returns the name of a table, without the schema.
func (n Names) Name(t Table) string {
	if t == Records {
		return n.Lease
	}
	base, ok := strings.CutSuffix(n.Lease, "lease")
	if !ok {
		base += "_"
	}
	return base + [Count]string{Namespaces: "namespace", Claims: "claim", Counters: "counter"}[t]
}

// Quoted returns the quoted name of a table, with the schema.
func (n Names) Quoted(t Table) string {
	quote := `"`
	if n.MySQL {
		quote = "`"
	}
	name := quote + n.Name(t) + quote
	if n.Schema != "" {
		name = quote + n.Schema + quote + "." + name
	}
	return name
}

// DDL returns the statements that create the tables.
func (n Names) DDL() []string {
	name, text, state, end := "VARCHAR(64) NOT NULL", "VARCHAR(255) NOT NULL", "VARCHAR(16) NOT NULL", ""
	if n.MySQL { // its usual collations ignore case
		const ascii = " CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
		name, text, state, end = "VARCHAR(64)"+ascii, "VARCHAR(255)"+ascii, "VARCHAR(16)"+ascii, " ENGINE=InnoDB"
	}
	const integer = " BIGINT NOT NULL"
	ddl := [Count]string{
		Namespaces: "namespace " + name + " PRIMARY KEY, layout " + text + ", fence_window" + integer + ", max_skew" + integer +
			", incarnation " + text + ", since" + integer + ", floor" + integer + ", seen" + integer + ", version" + integer,
		Records: "namespace " + name + ", worker_id" + integer + ", claim_id " + name + ", fencing_token" + integer +
			", start" + integer + ", fence" + integer + ", owner " + text + ", state " + state + ", PRIMARY KEY (namespace, worker_id)",
		Claims: "namespace " + name + ", worker_id" + integer + ", fencing_token" + integer + ", start" + integer +
			", ended" + integer + ", owner " + text + ", claimed" + integer + ", PRIMARY KEY (namespace, worker_id, fencing_token)",
		Counters: "name " + name + " PRIMARY KEY, value" + integer,
	}
	for t := range Count {
		ddl[t] = "CREATE TABLE IF NOT EXISTS " + n.Quoted(t) + " (" + ddl[t] + ")" + end
	}
	return ddl[:]
}

// PostgresIncarnation returns PostgreSQL's expression for its incarnation; see package driver. A failover
// changes the timeline, unless an older standby follows. A crash, unlike a clean restart, resets the time
// since which statistics are counted. A restore into the same server changes the OIDs.
func (n Names) PostgresIncarnation() string {
	return "(SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8), " + n.OIDs() +
		", CAST(EXTRACT(EPOCH FROM least(pg_stat_get_bgwriter_stat_reset_time(), (SELECT stats_reset FROM pg_catalog.pg_stat_archiver))) * 1000000 AS BIGINT)))"
}

// OIDs returns PostgreSQL's expressions for the OIDs of the database and of the table of the namespaces.
func (n Names) OIDs() string {
	return "(SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()), CAST(to_regclass('" + n.Quoted(Namespaces) + "') AS oid)"
}

// PostgresUntouched returns PostgreSQL's expression that is true if the database has, and had, no tables but
// these. except is empty, or a list of names in parentheses.
func PostgresUntouched(except string) string {
	if except != "" {
		except = " AND c.relname NOT IN " + except
	}
	return "NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'm', 'f') AND c.oid >= 16384" + except +
		" AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = CAST('pg_catalog.pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e'))" +
		" AND EXISTS (SELECT 1 FROM pg_catalog.pg_stat_sys_tables WHERE relid = CAST('pg_catalog.pg_class' AS regclass) AND n_tup_del = 0)"
}

// PostgresQuiet is PostgreSQL's expression that is true if no other session of the database was recently
// active, which may have deleted a table that PostgreSQL has not counted yet.
const PostgresQuiet = "NOT EXISTS (SELECT 1 FROM pg_catalog.pg_stat_activity a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()" +
	" AND COALESCE(a.state_change, clock_timestamp()) > clock_timestamp() - INTERVAL '15 s')"
