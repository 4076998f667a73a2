package database

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// The names of the engines.
const (
	Postgres = "postgres"
	MariaDB  = "mariadb"
	SQLite   = "sqlite"
)

// Engines are their names.
func Engines() []string { return []string{Postgres, MariaDB, SQLite} }

// Engine is one database that nobody else uses at the time.
type Engine struct {
	Name   string
	Server *testserver.Server // nil for SQLite
	DB     *sql.DB            // of one connection

	id     uint32 // in the names of Fresh, for the server may have others' tables
	file   string // SQLite's
	tables int    // that had a name of Fresh
}

// Settings are how an engine is started: arguments of the server, or pragmas of
// SQLite. The caches are larger than a table of a million rows under the widest
// key, so that what is measured is the engine's work and not this machine's disk;
// for ten million rows they are not.
func Settings(engine string, durable bool) []string {
	switch engine {
	case Postgres:
		list := []string{"-c", "shared_buffers=256MB", "-c", "max_wal_size=8GB", "-c", "checkpoint_timeout=1h", "-c", "autovacuum=off", "-c", "fsync=off"}
		if durable {
			list[len(list)-1] = "fsync=on"
		}
		return list
	case MariaDB:
		list := []string{"--innodb-buffer-pool-size=256M", "--innodb-log-file-size=1G"}
		if durable {
			list = append(list, "--innodb-flush-log-at-trx-commit=1", "--innodb-flush-method=fsync")
		}
		return list
	default:
		list := []string{"journal_mode(WAL)", "foreign_keys(1)", "cache_size(-262144)", "synchronous(OFF)"}
		if durable {
			list[len(list)-1] = "synchronous(FULL)"
		}
		return list
	}
}

// Open starts an engine that ends with the benchmark. A server that is not
// installed skips it, or fails it, as testserver has it.
func Open(tb testing.TB, engine string, durable bool) *Engine {
	tb.Helper()
	return OpenFar(tb, engine, durable, 0)
}

// OpenFar is Open with a network between, whose round trip takes so long. There
// is none before SQLite.
func OpenFar(tb testing.TB, engine string, durable bool, roundTrip time.Duration) *Engine {
	tb.Helper()
	e := &Engine{Name: engine, id: rand.Uint32()}
	switch engine {
	case Postgres:
		e.Server = server(tb, testserver.KindPostgres, testserver.Postgres, Settings(engine, durable))
		config, err := pgx.ParseConfig(Far(tb, e.Server, roundTrip))
		if err != nil {
			tb.Fatal(err)
		}
		e.DB = stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
	case MariaDB:
		e.Server = server(tb, testserver.KindMariaDB, testserver.MariaDB, Settings(engine, durable))
		e.DB = open(tb, "mysql", Far(tb, e.Server, roundTrip))
	case SQLite:
		e.file = filepath.Join(tb.TempDir(), "bench.sqlite")
		e.DB = open(tb, "sqlite", "file:"+e.file+"?_pragma="+strings.Join(Settings(engine, durable), "&_pragma="))
	default:
		tb.Fatalf("engine %q: want one of %v", engine, Engines())
	}
	tb.Cleanup(func() { _ = e.DB.Close() })
	e.DB.SetMaxOpenConns(1)
	if err := e.DB.PingContext(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return e
}

// server is a new one. At the small scale, where nothing is measured, it is the
// one that the whole test binary shares, for starting it is what takes the time.
func server(tb testing.TB, kind testserver.Kind, shared func(testing.TB) *testserver.Server, arguments []string) *testserver.Server {
	tb.Helper()
	if scale.Pick(tb, true, false) {
		if s := shared(tb); !s.External() { // on somebody's own we may not be allowed what is needed
			return s
		}
	}
	return testserver.New(tb, kind, arguments...)
}

// Far is the DSN of a server behind a network; a round trip of 0 is none.
func Far(tb testing.TB, server *testserver.Server, roundTrip time.Duration) string {
	tb.Helper()
	if roundTrip == 0 {
		return server.DSN
	}
	return strings.Replace(server.DSN, server.Addr, testserver.Delayed(tb, server.Addr, roundTrip), 1)
}

func open(tb testing.TB, driver, dsn string) *sql.DB {
	tb.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// Dialector opens gorm on the engine's own connection.
func (e *Engine) Dialector() gorm.Dialector {
	switch e.Name {
	case Postgres:
		return postgres.New(postgres.Config{Conn: e.DB})
	case MariaDB:
		return mysql.New(mysql.Config{Conn: e.DB, DSNConfig: &mysqldriver.Config{}})
	default:
		return &sqlite.Dialector{Conn: e.DB}
	}
}

// Exec runs statements that are not measured; one that fails ends the benchmark.
func (e *Engine) Exec(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := e.DB.ExecContext(tb.Context(), s); err != nil {
			tb.Fatalf("%s: %s: %v", e.Name, s, err)
		}
	}
}
