package ddl

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// server is one empty database, reached by one connection whose session is far from UTC.
type server struct {
	*sql.DB
	dialect ddl.Dialect
	maria   bool
	dsn     string // of PostgreSQL
}

// onEvery runs a test on every database.
func onEvery(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, openSQLite(t)) })
	onServers(t, test)
}

// onServers leaves out SQLite.
func onServers(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) { test(t, openPostgres(t)) })
	t.Run("mysql", func(t *testing.T) {
		for i, one := range testserver.MySQLs(t) {
			t.Run(fmt.Sprint(i), func(t *testing.T) { test(t, openMySQL(t, one.DSN)) })
		}
	})
}

func openSQLite(t *testing.T) *server {
	t.Helper()
	db, err := sql.Open(sqlite.DriverName, filepath.Join(t.TempDir(), "test.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return &server{DB: db, dialect: ddl.SQLite}
}

// openPostgres makes a database of its own, which is dropped after the test.
func openPostgres(t testing.TB) *server {
	t.Helper()
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["timezone"] = "Asia/Kolkata"
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return &server{DB: db, dialect: ddl.Postgres, dsn: dsn}
}

// openMySQL makes a database of its own, which is dropped after the test.
func openMySQL(t testing.TB, dsn string) *server {
	t.Helper()
	config, err := mysqldriver.ParseDSN(testserver.Database(t, "mysql", dsn))
	if err != nil {
		t.Fatal(err)
	}
	config.Params = map[string]string{"time_zone": "'+05:30'"}
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	s := &server{DB: db, dialect: ddl.MySQL}
	s.maria = strings.Contains(one[string](t, s, "SELECT version()"), "MariaDB")
	return s
}

func freshName() string { return fmt.Sprintf("snowkey_%016x", rand.Uint64()) }

// run executes statements and wants no error.
func (s *server) run(t testing.TB, script ...string) {
	t.Helper()
	for _, statement := range script {
		if _, err := s.Exec(statement); err != nil {
			if len(statement) > 1000 {
				statement = statement[:1000] + "…"
			}
			t.Fatalf("%v, from\n%s", err, statement)
		}
	}
}

// one is the single value that a query gives.
func one[T any](t testing.TB, s *server, query string, args ...any) (value T) {
	t.Helper()
	if err := s.QueryRow(query, args...).Scan(&value); err != nil {
		t.Fatalf("%v, from\n%s", err, query)
	}
	return value
}

// lines is what a query gives, a line for each row and a blank between its values.
func lines(t testing.TB, s *server, query string, args ...any) []string {
	t.Helper()
	rows, err := s.Query(query, args...)
	if err != nil {
		t.Fatalf("%v, from\n%s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = "NULL"
			if v.Valid {
				words[i] = v.String
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%v, from\n%s", err, query)
	}
	return all
}

// must returns what a Config or a Partitioning has made.
func must[T any](t testing.TB) func(T, error) T {
	return func(made T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

func script(t testing.TB) func(ddl.Script, error) ddl.Script { return must[ddl.Script](t) }
func text(t testing.TB) func(string, error) string           { return must[string](t) }

type named struct {
	name   string
	layout core.Layout
}

// layouts are all that are known by a name, and odd ones.
func layouts() []named {
	var all []named
	for _, p := range core.Presets() {
		all = append(all, named{p.Name, p.Layout})
	}
	at := func(s string) time.Time {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			panic(err)
		}
		return t
	}
	return append(all,
		named{"zero", core.Layout{}},
		named{"sequence first", core.Layout{SequenceFirst: true, TimeBits: 40, RollbackBits: 3, DatacenterBits: 4, WorkerBits: 6, SequenceBits: 9}},
		named{"all fields", core.Layout{TimeBits: 39, RollbackBits: 2, DatacenterBits: 4, WorkerBits: 6, SequenceBits: 12}},
		named{"10ms", core.Layout{Tick: 10 * time.Millisecond, TimeBits: 39, WorkerBits: 10, SequenceBits: 14, Epoch: at("2020-01-01T00:00:00.007Z")}},
		named{"7ms", core.Layout{Tick: 7 * time.Millisecond, TimeBits: 38, WorkerBits: 4, SequenceBits: 8, Epoch: at("2001-02-03T04:05:06.789Z")}},
		named{"seconds before 1970", core.Layout{Tick: time.Second, TimeBits: 35, WorkerBits: 8, SequenceBits: 20, Epoch: at("1900-03-01T00:00:00.001Z")}},
		named{"milliseconds before 1970", core.Layout{TimeBits: 43, SequenceBits: 20, Epoch: at("1815-12-10T11:12:13.999Z")}},
		named{"hours", core.Layout{Tick: time.Hour, TimeBits: 20, WorkerBits: 10, SequenceBits: 30, Epoch: at("2000-01-01T00:30:00.5Z")}},
		named{"one bit", core.Layout{TimeBits: 1, WorkerBits: 62}},
		named{"one bit of a day", core.Layout{TimeBits: 1, Tick: 24 * time.Hour, SequenceBits: 10}},
		named{"one worker bit", core.Layout{TimeBits: 41, WorkerBits: 1, SequenceBits: 1}},
		named{"time alone", core.Layout{TimeBits: 41}},
		named{"last of the doubles", core.Layout{TimeBits: 51, SequenceBits: 12, Epoch: at("0001-01-01T00:00:00Z")}},
		named{"first beyond the doubles", core.Layout{TimeBits: 51, SequenceBits: 12, Epoch: at("2020-01-01T00:00:00.123Z")}},
		named{"far beyond the doubles", core.Layout{TimeBits: 52, SequenceBits: 11}},
		named{"beyond every date", core.Layout{TimeBits: 60, WorkerBits: 3}},
		named{"63 bits of an hour", core.Layout{TimeBits: 48, Tick: time.Hour, WorkerBits: 15}},
		named{"days from 9999", core.Layout{TimeBits: 12, Tick: 24 * time.Hour, Epoch: at("9999-12-01T00:00:00.25Z")}},
	)
}
