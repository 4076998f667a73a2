package sqlstore

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// A Dialect is the SQL of a database. Its values are those of ddl.Dialect, which are the names of
// GORM's dialectors. The types are two because that one has methods for all SQL of package ddl,
// which uses this package.
type Dialect string

// The dialects.
const (
	Detect   Dialect = "" // the store asks the database
	Postgres Dialect = "postgres"
	MySQL    Dialect = "mysql" // also of MariaDB
	SQLite   Dialect = "sqlite"
)

// String returns the dialect, or Detect.
func (d Dialect) String() string { return cmp.Or(string(d), "Detect") }

// now is the database's clock in Unix milliseconds. In PostgreSQL it is that of the moment, and in the
// others that of the start of the statement, which may be lower.
func (d Dialect) now() string {
	switch d {
	case Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT)"
	case MySQL:
		return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)" // no time zone comes in, nor summer time
	}
	return "CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)"
}

// tableName is what a statement may contain, although names are also quoted.
var tableName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,47}\.)?[A-Za-z_][A-Za-z0-9_]{0,47}$`)

// complete sets the defaults but that of the schema, and reports the fields that have a wrong value.
func (cfg *Config) complete(wrong *fields.Errors) {
	cfg.Table = cmp.Or(cfg.Table, "snow_lease")
	if !tableName.MatchString(cfg.Table) {
		wrong.Add("Table", cfg.Table, "must be a name of at most 48 letters, digits and _, optionally with a schema and a dot before it")
	}
	if schema := strings.ToLower(cfg.schema()); schema == "temp" || strings.HasPrefix(schema, "pg_temp") {
		wrong.Add("Table", cfg.Table, "must not be a temporary table, which other sessions do not see")
	}
}

// plain is the value of a field that an error does not quote.
type plain string

// completeFor is complete for SQL that exists in these dialects only.
func (cfg *Config) completeFor(rule string, dialects ...Dialect) error {
	var wrong fields.Errors
	if !slices.Contains(dialects, cfg.Dialect) {
		wrong.Add("Dialect", string(cfg.Dialect), rule)
	}
	cfg.complete(&wrong)
	return wrong.Err("sqlstore")
}

// pin gives a table without a schema the default one, so that it is the same table in every session
// and process, whatever their search_path is. database is what a connection to MySQL has selected.
func (cfg *Config) pin(database string) error {
	if cfg.schema() != "" {
		return nil
	}
	if cfg.Dialect == MySQL && (database == "" || strings.ContainsAny(database, ".'`\"\\")) {
		return fields.Error("sqlstore", "Table", cfg.Table, "needs a database and a dot before it, such as app.snow_lease: the connection has selected %q", database)
	}
	cfg.Table = map[Dialect]string{Postgres: "public", MySQL: database, SQLite: "main"}[cfg.Dialect] + "." + cfg.Table
	return nil
}

// schema returns the schema of the table, or "".
func (cfg Config) schema() string {
	schema, _, ok := strings.Cut(cfg.Table, ".")
	if !ok {
		return ""
	}
	return schema
}

// name returns that of the table, without the schema.
func (cfg Config) name(t table) string {
	name := cfg.Table[strings.LastIndexByte(cfg.Table, '.')+1:]
	if t == recordTable {
		return name
	}
	base, ok := strings.CutSuffix(name, "lease")
	if !ok {
		base += "_"
	}
	return base + [tables]string{namespaceTable: "namespace", counterTable: "counter"}[t]
}

// quoted returns the quoted name of a table in the schema of Table.
func (cfg Config) quoted(name string) string {
	quote := `"`
	if cfg.Dialect == MySQL {
		quote = "`"
	}
	name = quote + name + quote
	if schema := cfg.schema(); schema != "" {
		name = quote + schema + quote + "." + name
	}
	return name
}

// table returns the quoted name of the table.
func (cfg Config) table(t table) string { return cfg.quoted(cfg.name(t)) }

// DDL returns the statements that create the tables: in PostgreSQL in the schema public if Table has
// none, in MySQL in the selected database. Config must have a Dialect. Only counters need the last
// one: worker.FromCounter, and the numbers and segments of package serial.
func (cfg Config) DDL() ([]string, error) {
	if err := cfg.completeFor("must be Postgres, MySQL or SQLite", Postgres, MySQL, SQLite); err != nil {
		return nil, err
	}
	if cfg.Dialect != Postgres {
		return cfg.ddl(), nil
	}
	err := cfg.pin("")
	return cfg.ddl(), err
}

// ddl is DDL for a complete Config.
func (cfg Config) ddl() []string {
	name, text, state, end := "VARCHAR(64) NOT NULL", "VARCHAR(255) NOT NULL", "VARCHAR(16) NOT NULL", ""
	if cfg.Dialect == MySQL { // its usual collations ignore case
		const ascii = " CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
		name, text, state, end = "VARCHAR(64)"+ascii, "VARCHAR(255)"+ascii, "VARCHAR(16)"+ascii, " ENGINE=InnoDB"
	}
	const integer = " BIGINT NOT NULL"
	ddl := [tables]string{
		namespaceTable: "namespace " + name + " PRIMARY KEY, layout " + text + ", fence_window" + integer + ", max_skew" + integer +
			", incarnation " + text + ", since" + integer + ", floor" + integer + ", seen" + integer + ", version" + integer,
		recordTable: "namespace " + name + ", worker_id" + integer + ", claim_id " + name + ", fencing_token" + integer +
			", start" + integer + ", fence" + integer + ", owner " + text + ", state " + state + ", PRIMARY KEY (namespace, worker_id)",
		counterTable: "name " + name + " PRIMARY KEY, value" + integer,
	}
	for t := range tables {
		ddl[t] = "CREATE TABLE IF NOT EXISTS " + cfg.table(t) + " (" + ddl[t] + ")" + end
	}
	return ddl[:]
}

const (
	namespaceColumns = "layout, fence_window, max_skew, incarnation, since, floor, seen, version"
	// indexName is the namespace that is the index of the others, see driver.State: no other has such a name.
	indexName = "*"
)

// statements are the store's SQL in the dialect. {l} and {n} are the tables of the records and of the
// namespaces, {now} the database's clock, {server} its incarnation, {gate} the conditions of every
// write, and ? an argument.
type statements struct {
	cfg         Config // with a Dialect, and a Table with its schema
	mariaDB     bool
	galera      bool  // a node of a cluster, which may be behind
	vitess      bool  // a proxy with a parser of its own
	simple      []any // see simpleProtocol
	incarnation incarnation
	limit       string      // instead of the session's sql_select_limit
	leases      []condition // of each write of a lease
	counters    []condition // of each write of a counter
	fill        *strings.Replacer

	state, renew, claim string
	updateNamespace     string
	reserve, reserveIn  string // in a statement of its own, and in the caller's transaction
}

// claimed says that a worker ID is held.
const claimed = "state IN ('held', 'kept')"

func (cfg Config) statements() *statements {
	d := cfg.Dialect
	st := &statements{cfg: cfg, reserveIn: cfg.reserve("")}
	greatest, least, empty := "GREATEST", "LEAST", "''"
	switch d {
	case SQLite:
		greatest, least = "MAX", "MIN"
	case MySQL:
		st.limit = " LIMIT 18446744073709551615"
		empty = "LEFT('-', 0)" // for sessions of MariaDB with EMPTY_STRING_IS_NULL
	case Postgres:
		st.reserveIn = numbered(st.reserveIn)
	}
	st.fill = strings.NewReplacer("{l}", cfg.table(recordTable), "{n}", cfg.table(namespaceTable), "{now}", d.now(), "{empty}", empty)
	number := func(column string) string { return "COALESCE(n." + column + ", 0)" }
	// row is a namespace in the columns of a record, and more.
	row := func(number1, count, name string) string {
		return "SELECT " + number1 + ", {now}, (SELECT COUNT(*) FROM " + count + "), " + number("since") + ", COALESCE(n.layout, {empty}), COALESCE(n.incarnation, {empty}), {server}, " +
			number("fence_window") + ", " + number("max_skew") + ", " + number("floor") + ", " + number("seen") + ", COALESCE(n.version, -1) FROM (SELECT 1 AS one) o LEFT JOIN {n} n ON n.namespace = " + name
	}
	st.state = row("-1", "{l} WHERE namespace = ?", "?") + " UNION " + row("-2", "{n} WHERE namespace <> '"+indexName+"'", "'"+indexName+"'")
	fence := greatest + "(l.fence, " + greatest + "({now}, n.floor) + " + least + "(?, n.fence_window))"
	if d == MySQL {
		fence = "LAST_INSERT_ID(" + fence + ")" // the answer has it
	}
	st.renew = st.update("fence = "+fence+"{keep}", "l.fencing_token = ? AND l.claim_id = ? AND l."+claimed+
		" AND CASE WHEN n.incarnation = {server} THEN l.fence > n.since WHEN n.floor > {now} + n.fence_window + n.max_skew THEN l.fence > n.floor ELSE 1 = 0 END")
	if d != MySQL {
		st.renew += " RETURNING fence"
	}
	st.claim = st.update("claim_id = ?, fencing_token = ?, start = ?, fence = ?, owner = ?, state = ?",
		"l.claim_id = ? AND l.fencing_token = ? AND l.fence = ? AND l.state = ? AND n.incarnation = {server} AND n.floor = ? AND n.seen = ?{free}")
	st.updateNamespace = "UPDATE {n} SET layout = ?, fence_window = ?, max_skew = ?, incarnation = ?, since = ?, floor = ?, seen = ?, version = ?" +
		" WHERE namespace = ? AND incarnation = ? AND fence_window = ? AND floor = ? AND seen = ? AND version = ? AND {server} = ?{gate}"
	return st
}

// update is an UPDATE of the record of a worker ID, with its namespace.
func (st *statements) update(set, where string) string {
	where += " AND n.namespace = ? AND l.namespace = ? AND l.worker_id = ?{gate}"
	if st.cfg.Dialect == MySQL {
		return "UPDATE {l} AS l JOIN {n} AS n ON 1 = 1 SET " + set + " WHERE " + where
	}
	return "UPDATE {l} AS l SET " + set + " FROM {n} AS n WHERE " + where
}

// What read reads of the records, besides the namespace.
const (
	recordColumns = "worker_id, fencing_token, start, fence, claim_id, owner, state, 0, 0, 0, 0, 0"
	allRecords    = " UNION SELECT " + recordColumns + " FROM {l} WHERE namespace = ?"
	oneRecord     = allRecords + " AND worker_id = ?"
	fewRecords    = allRecords + " AND (claim_id = ? OR worker_id IN (?, ?)) UNION SELECT " + recordColumns + " FROM (SELECT * FROM {l} WHERE namespace = ? AND worker_id < ? AND worker_id <> ?" +
		" AND (state IN ('unused', 'released') OR state IN ('held', 'freed') AND fence + (SELECT max_skew FROM {n} WHERE namespace = ?) < {now}) ORDER BY fence, worker_id LIMIT 64) few"
)

// reserve adds to a counter, and creates it if it is missing, in one statement. In MySQL the new
// value is the insert ID of the answer. In the others it is the row that the statement returns,
// and there is none if the counter would overflow.
func (cfg Config) reserve(gate string) string {
	insert, values := "INSERT INTO "+cfg.table(counterTable), "VALUES (?, ?)"
	switch {
	case cfg.Dialect == MySQL && gate != "":
		return insert + " (name, value) SELECT ?, LAST_INSERT_ID(?) FROM DUAL WHERE" + gate + " ON DUPLICATE KEY UPDATE value = LAST_INSERT_ID(value + ?)"
	case cfg.Dialect == MySQL:
		return insert + " (name, value) VALUES (?, LAST_INSERT_ID(?)) ON DUPLICATE KEY UPDATE value = LAST_INSERT_ID(value + ?)"
	case gate != "":
		values = "SELECT ?, ? WHERE" + gate
	}
	return insert + " AS c (name, value) " + values + " ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value" +
		" WHERE c.value <= 9223372036854775807 - excluded.value RETURNING value"
}

// numbered replaces each ? by PostgreSQL's $n. No ? is in quotes.
func numbered(query string) string {
	for n := 1; strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", "$"+strconv.Itoa(n), 1)
	}
	return query
}

// text returns a statement with its arguments as literals. Then drivers send one message and prepare
// nothing. To prepare takes one more round trip, and a pooler in transaction mode would lose it.
func (st *statements) text(query string, args ...any) string {
	var b strings.Builder
	for _, arg := range args {
		before, after, _ := strings.Cut(query, "?")
		b.WriteString(before)
		if s, ok := arg.(string); ok {
			b.WriteString(st.literal(s))
		} else {
			fmt.Fprint(&b, arg)
		}
		query = after
	}
	return b.String() + query
}

// literal returns a literal that means the same whatever the session's settings are.
func (st *statements) literal(s string) string {
	switch st.cfg.Dialect {
	case Postgres:
		return literal(s)
	case MySQL:
		if s == "" {
			return "LEFT('-', 0)" // for sessions of MariaDB with EMPTY_STRING_IS_NULL
		}
		return fmt.Sprintf("_utf8mb4 X'%x'", s)
	}
	return fmt.Sprintf("CAST(X'%x' AS TEXT)", s)
}

// literal returns a literal of PostgreSQL. It is ASCII without ?, so it means the same whatever the
// session's encoding and standard_conforming_strings are.
func literal(s string) string {
	var b strings.Builder
	b.WriteString("E'")
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\' || r == '?' || r < ' ' || r > '~':
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}
