// Package databases opens every database of the tests, in all modes of its drivers: SQLite, and private
// PostgreSQL and MariaDB servers. The servers that SNOWKEY_TEST_POSTGRES and SNOWKEY_TEST_MYSQL name are used, too.
package databases

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// Database is one empty database in one of the modes its drivers have. Open may be called
// more than once, as several processes would.
type Database struct {
	Name string
	// Usual is false in modes that differ only in how the client encodes parameters. They
	// need no tests of ten thousand rows.
	Usual bool
	Open  func(t *testing.T) gorm.Dialector
	// Replica opens another database of the same kind, to which nothing is copied: a replica
	// that lags.
	Replica func(t *testing.T) gorm.Dialector
}

// Size returns the number of rows that a test writes: all in a usual mode, else few.
func (d Database) Size(all, few int) int {
	if d.Usual {
		return all
	}
	return few
}

// OnEvery runs a test on every database, each time on a fresh one. The three servers run at
// the same time, because a test mostly waits for its own.
func OnEvery(t *testing.T, test func(t *testing.T, d Database)) {
	var wg sync.WaitGroup
	wg.Go(func() { everySQLite(t, test) })
	wg.Go(func() { everyPostgres(t, test) })
	wg.Go(func() { everyMySQL(t, test) })
	wg.Wait()
}

func everySQLite(t *testing.T, test func(t *testing.T, d Database)) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		open := func(name string) func(*testing.T) gorm.Dialector {
			return func(*testing.T) gorm.Dialector {
				// SQLite has no queue: a waiting writer may be overtaken by all others.
				return sqlite.Open("file:" + filepath.Join(dir, name) + "?_pragma=foreign_keys(1)&_pragma=busy_timeout(600000)" +
					"&_pragma=journal_mode(WAL)&_pragma=synchronous(0)&_txlock=immediate")
			}
		}
		test(t, Database{"sqlite", true, open("test.sqlite"), open("replica.sqlite")})
	})
}

func everyPostgres(t *testing.T, test func(t *testing.T, d Database)) {
	for name, mode := range map[string]struct {
		exec     pgx.QueryExecMode
		register bool
	}{
		"extended":            {pgx.QueryExecModeCacheStatement, false},
		"extended+registered": {pgx.QueryExecModeCacheStatement, true},
		"simple":              {pgx.QueryExecModeSimpleProtocol, false},
		"simple+registered":   {pgx.QueryExecModeSimpleProtocol, true},
	} {
		t.Run("postgres/"+name, func(t *testing.T) { // the server is started here, so that its absence skips only this
			server := testserver.Postgres(t).DSN
			open := func() func(t *testing.T) gorm.Dialector {
				dsn := once(func() string { return testserver.Database(t, "pgx", server) })
				return func(t *testing.T) gorm.Dialector {
					cfg, err := pgx.ParseConfig(dsn())
					if err != nil {
						t.Fatal(err)
					}
					cfg.DefaultQueryExecMode = mode.exec
					var options []stdlib.OptionOpenDB
					if mode.register {
						options = append(options, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
					}
					pool := stdlib.OpenDB(*cfg, options...)
					t.Cleanup(func() { _ = pool.Close() })
					return postgres.New(postgres.Config{Conn: pool})
				}
			}
			test(t, Database{"postgres", name == "extended", open(), open()})
		})
	}
}

func everyMySQL(t *testing.T, test func(t *testing.T, d Database)) {
	t.Run("mysql", func(t *testing.T) {
		for i, server := range testserver.MySQLs(t) {
			for name, mode := range map[string]struct{ noReturning, interpolate bool }{
				"prepared":                 {},
				"prepared,no returning":    {noReturning: true},
				"interpolate":              {interpolate: true},
				"interpolate,no returning": {true, true},
			} {
				t.Run(fmt.Sprintf("%d/%s", i, name), func(t *testing.T) {
					open := func() func(t *testing.T) gorm.Dialector {
						cfg := once(func() *mysqldriver.Config { return FreshMySQL(t, server.DSN) })
						return func(*testing.T) gorm.Dialector {
							own := cfg().Clone()
							own.InterpolateParams = mode.interpolate
							return mysql.New(mysql.Config{DSNConfig: own, DisableWithReturning: mode.noReturning})
						}
					}
					test(t, Database{"mysql", !mode.interpolate, open(), open()})
				})
			}
		}
	})
}

// once returns a function that calls fresh at its first call, and keeps the result. It is not
// sync.OnceValue, which panics if fresh fails or skips the test.
func once[T any](fresh func() T) func() T {
	var first sync.Once
	var made T
	return func() T {
		first.Do(func() { made = fresh() })
		return made
	}
}

// FreshMySQL makes a database that is dropped after the test.
func FreshMySQL(t testing.TB, dsn string) *mysqldriver.Config {
	t.Helper()
	cfg, err := mysqldriver.ParseDSN(testserver.Database(t, "mysql", dsn))
	if err != nil {
		t.Fatal(err)
	}
	cfg.ParseTime = true
	return cfg
}

// Handle opens gorm with the plugins given, in their order.
func Handle(t *testing.T, d Database, plugins ...gorm.Plugin) *gorm.DB {
	t.Helper()
	return HandleOf(t, d.Open(t), &gorm.Config{Logger: logger.Discard}, plugins...)
}

// HandleOf is Handle with a configuration. Its pool is closed after the test.
func HandleOf(t testing.TB, d gorm.Dialector, cfg *gorm.Config, plugins ...gorm.Plugin) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	for _, p := range plugins {
		if err := db.Use(p); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// Generator makes a generator for one test.
func Generator(t *testing.T, worker int64) *core.Generator {
	t.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(worker)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gen.Close)
	return gen
}

// Recorder keeps the SQL that a handle sends.
type Recorder struct {
	logger.Interface
	SQL []string
}

// Record returns a handle whose SQL is kept.
func Record(db *gorm.DB) (*gorm.DB, *Recorder) {
	r := &Recorder{Interface: logger.Discard}
	return db.Session(&gorm.Session{Logger: r}), r
}

// LogMode implements gorm's interface.
func (r *Recorder) LogMode(logger.LogLevel) logger.Interface { return r }

// Trace keeps the SQL.
func (r *Recorder) Trace(_ context.Context, _ time.Time, sql func() (string, int64), _ error) {
	text, _ := sql()
	r.SQL = append(r.SQL, text)
}
