package sqlstore

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
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

// now is the database's clock in Unix milliseconds, at the time of the statement and not of the
// transaction.
func (d Dialect) now() string {
	switch d {
	case Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT)"
	case MySQL:
		return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)" // no time zone comes in, nor summer time
	}
	return "CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)"
}

// insert is an INSERT that does nothing if the row exists.
func (d Dialect) insert(into, columns, values, where string) string {
	switch d {
	case Postgres:
		return "INSERT INTO " + into + " (" + columns + ") SELECT " + values + where + " ON CONFLICT DO NOTHING"
	case MySQL:
		return "INSERT IGNORE INTO " + into + " (" + columns + ") VALUES (" + values + ")"
	}
	return "INSERT INTO " + into + " (" + columns + ") VALUES (" + values + ") ON CONFLICT DO NOTHING"
}

// tableName is what a statement may contain, although names are also quoted.
var tableName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,47}\.)?[A-Za-z_][A-Za-z0-9_]{0,47}$`)

// complete sets the defaults but that of the schema, and reports the fields that have a wrong value.
func (cfg *Config) complete(wrong *fields.Errors) {
	cfg.Table = cmp.Or(cfg.Table, "snow_worker")
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
		return fields.Error("sqlstore", "Table", cfg.Table, "needs a database and a dot before it, such as app.snow_worker: the connection has selected %q", database)
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

// name returns that of the table with this suffix, without the schema.
func (cfg Config) name(suffix string) string {
	return cfg.Table[strings.LastIndexByte(cfg.Table, '.')+1:] + suffix
}

// table returns the quoted name of the table with this suffix.
func (cfg Config) table(suffix string) string {
	quote := `"`
	if cfg.Dialect == MySQL {
		quote = "`"
	}
	return quote + strings.ReplaceAll(cfg.Table, ".", quote+"."+quote) + suffix + quote
}

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
	name, owner, end := "VARCHAR(64)", "VARCHAR(255)", ""
	layout := owner
	if cfg.Dialect == MySQL { // its usual collations ignore case
		name, layout = "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin", "VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin"
		owner, end = "VARCHAR(255) CHARACTER SET utf8mb4", " ENGINE=InnoDB"
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + cfg.table("_space") + " (space " + name + " NOT NULL PRIMARY KEY, layout " + layout + " NOT NULL)" + end,
		"CREATE TABLE IF NOT EXISTS " + cfg.table("") + " (space " + name + " NOT NULL, worker BIGINT NOT NULL, token " + name +
			" NOT NULL, epoch BIGINT NOT NULL, until_ts BIGINT NOT NULL, expires_at BIGINT NOT NULL, owner " + owner + " NOT NULL, PRIMARY KEY (space, worker))" + end,
		"CREATE TABLE IF NOT EXISTS " + cfg.table("_counter") + " (name " + name + " NOT NULL PRIMARY KEY, value BIGINT NOT NULL)" + end,
	}
}

// statements are the store's SQL in the dialect.
type statements struct {
	cfg                    Config // with a Dialect, and a Table with its schema
	galera                 bool   // a node of a cluster, which may be behind
	vitess                 bool   // a proxy with a parser of its own
	simple                 []any  // see simpleProtocol
	checks                 []durabilityCheck
	snapshot, addNamespace string
	first                  string // claims a worker ID that was never held
	claim, renew, held     string
	confirm, release, free string
	reserve, reserveIn     string // in a transaction of its own, and in the caller's
}

func (cfg Config) statements() *statements {
	t, d := cfg.table(""), cfg.Dialect
	const row = " WHERE space = ? AND worker = ? AND epoch = ?"
	autocommit, limit, empty, least := "1", "", "''", "LEAST"
	switch d {
	case SQLite:
		least = "MIN"
	case MySQL:
		autocommit = "@@autocommit"           // only MySQL has sessions that do not commit by themselves
		limit = " LIMIT 18446744073709551615" // instead of the session's sql_select_limit
		empty = "LEFT('-', 0)"                // for sessions of MariaDB with EMPTY_STRING_IS_NULL
	}
	st := &statements{
		cfg: cfg,
		// The first row is that of the namespace: its layout, the clock, and whether the session commits by itself.
		snapshot: "SELECT s.layout, -1, 0, {empty}, {empty}, {now}, " + autocommit + " FROM (SELECT 1 AS one) o LEFT JOIN " + cfg.table("_space") + " s ON s.space = ?" +
			" UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM " + t + " WHERE space = ?" + limit,
		addNamespace: d.insert(cfg.table("_space"), "space, layout", "?, ?", ""),
		first:        d.insert(t, "token, owner, epoch, until_ts, expires_at, space, worker", "?, COALESCE(?, {empty}), ?, ?, {expiry}, ?, ?", " WHERE"+cfg.gate()),
		claim: "UPDATE " + t + " SET token = ?, owner = COALESCE(?, {empty}), epoch = ?, until_ts = ?, expires_at = {expiry}" +
			row + " AND until_ts = ? AND (token = {empty} OR expires_at < {now}){gate}",
		renew:     "UPDATE " + t + " SET until_ts = CASE WHEN until_ts < ? THEN ? ELSE until_ts END, expires_at = {expiry}" + row + " AND token = ?{gate}",
		held:      "SELECT until_ts FROM " + t + row + " AND token = ?",
		confirm:   "UPDATE " + t + " SET expires_at = expires_at + 1" + row + " AND token = ?{gate}",
		release:   "UPDATE " + t + " SET token = {empty}, until_ts = ?, expires_at = 0" + row + " AND token = ?{gate}",
		free:      "UPDATE " + t + " SET token = {empty}, expires_at = 0" + row + " AND token <> {empty}{gate}",
		reserve:   cfg.reserve(true),
		reserveIn: cfg.reserve(false),
	}
	gate := cfg.gate()
	if gate != "" {
		gate = " AND" + gate
	}
	fill := strings.NewReplacer("{now}", d.now(), "{expiry}", least+"("+d.now()+" + ?, "+strconv.Itoa(driver.NoTTL)+")", "{empty}", empty, "{gate}", gate)
	for _, query := range []*string{&st.snapshot, &st.first, &st.claim, &st.renew, &st.confirm, &st.release, &st.free} {
		*query = fill.Replace(*query)
	}
	if d == Postgres {
		st.reserveIn = numbered(st.reserveIn)
		st.addNamespace = lockNamespaces + "INSERT INTO " + cfg.table("_space") + " (space, layout) SELECT ?, ? WHERE" + cfg.gate() // see the function addNamespace
	}
	return st
}

// gate is the condition of every write in PostgreSQL; the other databases have a transaction for
// it (exec.go). The write is in a transaction of its own, not in one that was left open in the
// session, where the time of the transaction is an earlier one; and its commit waits for the disk
// and the standbys, whatever the session says.
func (cfg Config) gate() string {
	switch {
	case cfg.Dialect != Postgres:
		return ""
	case cfg.AllowDataLoss:
		return " transaction_timestamp() = statement_timestamp()"
	}
	return " transaction_timestamp() = statement_timestamp() AND (" + waitForCommit + ") <> '' AND current_setting('fsync') = 'on'"
}

// waitForCommit raises synchronous_commit for the present transaction.
const waitForCommit = "SELECT set_config('synchronous_commit'," +
	" CASE WHEN current_setting('synchronous_commit') IN ('remote_write', 'remote_apply') THEN current_setting('synchronous_commit') ELSE 'on' END, true)"

// reserve adds to a counter, and creates it if it is missing, in one statement. In MySQL the new
// value is the insert ID of the answer. In the others it is the row that the statement returns,
// and there is none if the counter would overflow.
func (cfg Config) reserve(gated bool) string {
	insert := "INSERT INTO " + cfg.table("_counter")
	values := "VALUES (?, ?)"
	switch {
	case cfg.Dialect == MySQL:
		return insert + " (name, value) VALUES (?, LAST_INSERT_ID(?)) ON DUPLICATE KEY UPDATE value = LAST_INSERT_ID(value + ?)"
	case gated && cfg.Dialect == Postgres:
		values = "SELECT ?, ? WHERE" + cfg.gate()
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

// bind returns what to give a driver. Except in SQLite, the arguments become part of the text. Then
// drivers send one message and prepare nothing. To prepare takes one more round trip, and a pooler
// in transaction mode would lose it.
func (st *statements) bind(query string, args []any) (string, []any) {
	if st.cfg.Dialect == SQLite {
		return query, args
	}
	for _, arg := range args {
		text := fmt.Sprint(arg)
		if s, ok := arg.(string); ok && st.cfg.Dialect == MySQL {
			text = fmt.Sprintf("_utf8mb4 X'%x'", s)
		} else if ok {
			text = literal(s)
		}
		query = strings.Replace(query, "?", text, 1)
	}
	return query, nil
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
