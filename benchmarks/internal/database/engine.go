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
	sqlitec "gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// The names of the engines.
const (
	Postgres = "postgres"
	MariaDB  = "mariadb"
	SQLite   = "sqlite"     // by the driver in pure Go
	SQLiteC  = "sqlite-cgo" // by the driver that calls the C library
)

// Engines returns the names of all engines.
func Engines() []string { return []string{Postgres, MariaDB, SQLite} }

// Engine is one database of which this benchmark is the only user.
type Engine struct {
	Name   string
	Server *testserver.Server // nil for SQLite
	DB     *sql.DB            // of one connection

	id     uint32 // in the names of Fresh, because the server may have other tables
	tables int    // that had a name of Fresh
}

// Settings returns the arguments of a server, or the pragmas of SQLite. The caches hold a
// table of a million rows under the widest key, but not ten million, so that the engine is
// measured and not the disk.
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

// Open starts an engine that ends with the benchmark. If its server is not installed, the
// benchmark is skipped or fails, as package testserver documents.
func Open(tb testing.TB, engine string, durable bool) *Engine {
	tb.Helper()
	return OpenFar(tb, engine, durable, 0)
}

// OpenFar is Open behind a network with this round-trip time. SQLite ignores it.
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
		e.DB = open(tb, "sqlite", "file:"+filepath.Join(tb.TempDir(), "bench.sqlite")+"?_pragma="+strings.Join(Settings(engine, durable), "&_pragma="))
	case SQLiteC:
		e.DB = open(tb, "sqlite3", "file:"+filepath.Join(tb.TempDir(), "bench.sqlite"))
		for _, setting := range Settings(engine, durable) { // for its one connection
			e.Exec(tb, "PRAGMA "+setting)
		}
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

// server returns a new server. At the small scale, where nothing is measured, it returns the
// one that the test binary shares, because starting one takes most of the time.
func server(tb testing.TB, kind testserver.Kind, shared func(testing.TB) *testserver.Server, arguments []string) *testserver.Server {
	tb.Helper()
	if scale.Pick(tb, true, false) {
		if s := shared(tb); !s.External() { // a server that the environment names may refuse what is needed
			return s
		}
	}
	return testserver.New(tb, kind, arguments...)
}

// Far returns the DSN of a server behind a network, unless the round trip is 0.
func Far(tb testing.TB, server *testserver.Server, roundTrip time.Duration) string {
	tb.Helper()
	if roundTrip == 0 {
		return server.DSN
	}
	return strings.Replace(server.DSN, server.Addr, network.Delayed(tb, server.Addr, roundTrip), 1)
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
	case SQLiteC:
		return sqlitec.New(sqlitec.Config{Conn: e.DB})
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
