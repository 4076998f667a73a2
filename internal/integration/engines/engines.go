// Package engines opens empty databases of SQLite, PostgreSQL, MariaDB and, if SNOWKEY_TEST_MYSQL names one, MySQL, and
// reads and writes them. The sessions of servers are far from UTC.
package engines

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite" // the driver "sqlite"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// Engine is one empty database, which another process can open too.
type Engine struct {
	*sql.DB
	Dialect ddl.Dialect
	DSN     string
	Plain   *sql.DB // of Run and Read: its sessions have autocommit, whatever those of DB have
}

// OnEvery runs a test on an empty database of every engine.
func OnEvery(t *testing.T, test func(t *testing.T, db *Engine)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	OnServers(t, test)
}

// OnServers is like OnEvery without SQLite.
func OnServers(t *testing.T, test func(t *testing.T, db *Engine)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
	OnMySQL(t, nil, test)
}

// OnMySQL runs a test on each server, with a change of the driver's configuration, or nil.
func OnMySQL(t *testing.T, change func(*mysql.Config), test func(t *testing.T, db *Engine)) {
	t.Helper()
	t.Run("mysql", func(t *testing.T) {
		for i, server := range testserver.MySQLs(t) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				cfg, err := mysql.ParseDSN(testserver.Database(t, "mysql", server.DSN))
				Must(t, err)
				cfg.Params = map[string]string{"time_zone": "'+05:30'"}
				db := Open(t, ddl.MySQL, cfg.FormatDSN())
				if change != nil {
					change(cfg)
					plain := db.DB
					db = Open(t, ddl.MySQL, cfg.FormatDSN())
					db.Plain = plain
				}
				test(t, db)
			})
		}
	})
}

// SQLite makes a file, which is removed after the test. More pragmas may be added.
func SQLite(t testing.TB, more ...string) *Engine {
	t.Helper()
	pragmas := "?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(0)&_txlock=immediate"
	file := url.URL{Path: filepath.Join(t.TempDir(), "test.sqlite")} // the name of a test may have a "#"
	return Open(t, ddl.SQLite, "file:"+file.EscapedPath()+pragmas+strings.Join(more, ""))
}

// Postgres makes a database on the shared server, which is dropped after the test.
func Postgres(t testing.TB) *Engine {
	t.Helper()
	u, err := url.Parse(testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	Must(t, err)
	query := u.Query()
	query.Set("timezone", "Asia/Kolkata")
	u.RawQuery = query.Encode()
	return Open(t, ddl.Postgres, u.String())
}

// Open opens an existing database.
func Open(t testing.TB, dialect ddl.Dialect, dsn string) *Engine {
	t.Helper()
	driver := map[ddl.Dialect]string{ddl.Postgres: "pgx", ddl.MySQL: "mysql", ddl.SQLite: "sqlite"}[dialect]
	db, err := sql.Open(driver, dsn)
	Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return &Engine{db, dialect, dsn, db}
}

// Try executes statements until one fails.
func (db *Engine) Try(statements ...string) error {
	for _, s := range statements {
		if _, err := db.Plain.ExecContext(context.Background(), s); err != nil {
			return fmt.Errorf("%w, from\n%.1000s", err, s)
		}
	}
	return nil
}

// Run is like Try, but ends the test if a statement fails.
func (db *Engine) Run(t testing.TB, statements ...string) {
	t.Helper()
	Must(t, db.Try(statements...))
}

// Read returns the rows of a query, as the texts of their fields.
func (db *Engine) Read(t testing.TB, query string, args ...any) (all [][]string) {
	t.Helper()
	rows, err := db.Plain.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%v, from\n%s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		row, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		err = rows.Scan(into...)
		texts := make([]string, len(row))
		for i, field := range row {
			if texts[i] = field.String; !field.Valid {
				texts[i] = "NULL"
			}
		}
		all = append(all, texts)
	}
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		t.Fatalf("%v, from\n%s", err, query)
	}
	return all
}

// Lines is like Read, but joins the fields of each row with blanks.
func (db *Engine) Lines(t testing.TB, query string, args ...any) (lines []string) {
	t.Helper()
	for _, row := range db.Read(t, query, args...) {
		lines = append(lines, strings.Join(row, " "))
	}
	return lines
}

// One returns the only field of a query.
func (db *Engine) One(t testing.TB, query string, args ...any) string {
	t.Helper()
	rows := db.Read(t, query, args...)
	if len(rows) != 1 || len(rows[0]) != 1 {
		t.Fatalf("%q, from\n%s", rows, query)
	}
	return rows[0][0]
}

// Expect compares the only fields of queries.
func (db *Engine) Expect(t testing.TB, want string, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if got := db.One(t, q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}

// Must ends the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// MustNew returns what a constructor has made.
func MustNew[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// Documented returns the n blocks of SQL of a section in a page of docs.
func Documented(t testing.TB, page, heading string, n int) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
	Must(t, err)
	_, section, _ := strings.Cut(string(text), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n##")
	for _, block := range regexp.MustCompile("(?s)\n *```sql\n(.*?)\n *```\n").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) != n {
		t.Fatalf("%s has %d blocks of SQL in %q", page, len(blocks), heading)
	}
	return blocks
}
