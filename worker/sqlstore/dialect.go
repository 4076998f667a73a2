package sqlstore

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// A Dialect is the SQL of a database.
type Dialect uint8

// The dialects.
const (
	Detect   Dialect = iota // the store asks the database
	Postgres                // PostgreSQL
	MySQL                   // MySQL and MariaDB
	SQLite                  // SQLite
)

// String returns the name of the database.
func (d Dialect) String() string {
	if d > SQLite {
		return fmt.Sprintf("Dialect(%d)", uint8(d))
	}
	return [...]string{"Detect", "PostgreSQL", "MySQL", "SQLite"}[d]
}

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

// ignore makes an INSERT do nothing if the row exists.
func (d Dialect) ignore(insert string) string {
	if d == MySQL {
		return strings.Replace(insert, "INSERT INTO", "INSERT IGNORE INTO", 1)
	}
	return insert + " ON CONFLICT DO NOTHING"
}

// tableName is what a statement may contain, although names are also quoted.
var tableName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,47}\.)?[A-Za-z_][A-Za-z0-9_]{0,47}$`)

// complete sets the defaults, and reports the fields that have a wrong value.
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
		wrong.Add("Dialect", cfg.Dialect, rule)
	}
	cfg.complete(&wrong)
	return wrong.Err("sqlstore")
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

// DDL returns the statements that create the tables. Config must have a Dialect. Only counters
// need the last one: worker.FromCounter and the numbers of package serial.
func (cfg Config) DDL() ([]string, error) {
	if err := cfg.completeFor("must be Postgres, MySQL or SQLite", Postgres, MySQL, SQLite); err != nil {
		return nil, err
	}
	return cfg.ddl(), nil
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
	cfg                                            Config // with a Dialect
	galera                                         bool   // a node of a cluster, which may be behind
	snapshot, addNamespace                         string
	first, firstForever                            string // claim a worker ID that was never held
	claim, claimForever, renew, renewForever, held string
	confirm, release, free                         string
	count, addCount, raiseCount, reserve           string
}

func (cfg Config) statements() *statements {
	t, d := cfg.table(""), cfg.Dialect
	const row = " WHERE space = ? AND worker = ? AND epoch = ?"
	autocommit := "1"
	if d == MySQL { // only MySQL has sessions that do not commit by themselves
		autocommit = "@@autocommit"
	}
	st := &statements{
		cfg: cfg,
		// The first row is that of the namespace: its layout, the clock, and whether the session commits by itself.
		snapshot: "SELECT s.layout, -1, 0, '', '', {now}, " + autocommit + " FROM (SELECT 1 AS one) o LEFT JOIN " + cfg.table("_space") + " s ON s.space = ?" +
			" UNION ALL SELECT NULL, worker, epoch, token, owner, until_ts, expires_at FROM " + t + " WHERE space = ?",
		addNamespace: d.ignore("INSERT INTO " + cfg.table("_space") + " (space, layout) VALUES (?, ?)"),
		first:        d.ignore("INSERT INTO " + t + " (token, owner, epoch, until_ts, expires_at, space, worker) VALUES (?, ?, ?, ?, {now} + ?, ?, ?)"),
		claim: "UPDATE " + t + " SET token = ?, owner = ?, epoch = ?, until_ts = ?, expires_at = {now} + ?" +
			row + " AND until_ts = ? AND (token = '' OR expires_at < {now})",
		renew:      "UPDATE " + t + " SET until_ts = CASE WHEN until_ts < ? THEN ? ELSE until_ts END, expires_at = {now} + ?" + row + " AND token = ?",
		held:       "SELECT until_ts FROM " + t + row + " AND token = ?",
		confirm:    "UPDATE " + t + " SET expires_at = expires_at + 1" + row + " AND token = ?",
		release:    "UPDATE " + t + " SET token = '', until_ts = ?, expires_at = 0" + row + " AND token = ?",
		free:       "UPDATE " + t + " SET token = '', expires_at = 0" + row + " AND token <> ''",
		count:      "SELECT value FROM " + cfg.table("_counter") + " WHERE name = ?",
		addCount:   d.ignore("INSERT INTO " + cfg.table("_counter") + " (name, value) VALUES (?, 0)"),
		raiseCount: "UPDATE " + cfg.table("_counter") + " SET value = value + 1 WHERE name = ? AND value = ?",
		reserve:    cfg.reserve(),
	}
	st.firstForever = strings.Replace(st.first, "{now} + ?", "?", 1)
	st.claimForever = strings.Replace(st.claim, "{now} + ?", "?", 1)
	st.renewForever = strings.Replace(st.renew, "{now} + ?", "?", 1)
	for _, query := range []*string{
		&st.snapshot, &st.addNamespace, &st.first, &st.firstForever, &st.claim, &st.claimForever, &st.renew, &st.renewForever, &st.held,
		&st.confirm, &st.release, &st.free, &st.count, &st.addCount, &st.raiseCount, &st.reserve,
	} {
		*query = strings.ReplaceAll(*query, "{now}", d.now())
		if d == Postgres {
			*query = numbered(*query)
		}
	}
	return st
}

// reserve adds to a counter, and creates it if it is missing, in one statement. In MySQL the new
// value is the insert ID of the answer. In the others it is the row that the statement returns,
// and there is none if the counter would overflow.
func (cfg Config) reserve() string {
	insert := "INSERT INTO " + cfg.table("_counter")
	if cfg.Dialect == MySQL {
		return insert + " (name, value) VALUES (?, LAST_INSERT_ID(?)) ON DUPLICATE KEY UPDATE value = LAST_INSERT_ID(value + ?)"
	}
	return insert + " AS c (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value" +
		" WHERE c.value <= 9223372036854775807 - excluded.value RETURNING value"
}

// numbered replaces each ? by PostgreSQL's $n. No ? is in quotes.
func numbered(query string) string {
	parts := strings.Split(query, "?")
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i < len(parts)-1 {
			fmt.Fprintf(&b, "$%d", i+1)
		}
	}
	return b.String()
}
