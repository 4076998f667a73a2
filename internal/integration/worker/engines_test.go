package worker

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// engine is one empty database, over one driver.
type engine struct {
	dialect     ddl.Dialect
	driver, dsn string // driver of database/sql
	plain       string // the DSN without a mode
}

func engineOf(dialect ddl.Dialect, driver, dsn string) engine {
	return engine{dialect, driver, dsn, dsn}
}

// onEach runs a test on an empty database of each kind, with the usual settings.
func onEach(t *testing.T, test func(t *testing.T, e engine)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, newPostgres(t)) })
	for i, server := range testserver.MySQLs(t) {
		t.Run(fmt.Sprint("mysql ", i), func(t *testing.T) { test(t, newMySQL(t, server.DSN)) })
	}
}

func newSQLite(t *testing.T) engine {
	return engineOf(ddl.SQLite, "sqlite", "file:"+filepath.Join(t.TempDir(), "test.sqlite")+"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_txlock=immediate")
}

func newPostgres(t *testing.T) engine {
	t.Helper()
	return engineOf(ddl.Postgres, "pgx", testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
}

func newMySQL(t *testing.T, dsn string) engine {
	t.Helper()
	return engineOf(ddl.MySQL, "mysql", testserver.Database(t, "mysql", dsn))
}

// onServers runs a test on an empty database of each server, in all modes of its drivers and
// sessions. Package sqlstore's own tests run over SQLite.
func onServers(t *testing.T, test func(t *testing.T, e engine)) {
	for _, mode := range []string{"read committed", "repeatable read", "serializable", "lib/pq"} {
		t.Run("postgres/"+mode, func(t *testing.T) {
			e := newPostgres(t)
			if mode == "lib/pq" {
				e.driver = "postgres"
			} else {
				e = e.with(t, "default_transaction_isolation", mode)
			}
			if mode == "repeatable read" {
				e = e.with(t, "default_query_exec_mode", "simple_protocol")
			}
			test(t, e)
		})
	}
	for i, server := range testserver.MySQLs(t) {
		for _, mode := range []string{"prepared", "interpolated", "found rows", "serializable", "odd session"} {
			t.Run(fmt.Sprintf("mysql %d/%s", i, mode), func(t *testing.T) {
				e := newMySQL(t, server.DSN)
				cfg := e.mysql(t)
				cfg.InterpolateParams = mode == "interpolated"
				cfg.ClientFoundRows = mode == "found rows"
				switch mode {
				case "interpolated":
					cfg.Params = map[string]string{"time_zone": "'-07:00'"}
				case "serializable":
					cfg.Params = serializable(t, e.open(t))
				case "odd session":
					cfg.Params = map[string]string{"autocommit": "0", "completion_type": "'CHAIN'", "sql_mode": "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"}
				}
				e.dsn = cfg.FormatDSN()
				test(t, e)
			})
		}
	}
}

// serializable is this isolation in a DSN of MySQL, with innodb_snapshot_isolation, the default of
// MariaDB since 11.6: it rolls back a transaction that reads rows which another one has changed
// since its first read. That is then repeated.
func serializable(t *testing.T, admin *sql.DB) map[string]string {
	t.Helper()
	var name string // MariaDB has not always called it as MySQL does
	must(t, admin.QueryRow("SHOW VARIABLES WHERE variable_name IN ('tx_isolation', 'transaction_isolation')").Scan(&name, new(string)))
	params := map[string]string{name: "'SERIALIZABLE'"}
	if _, err := admin.Exec("SET SESSION innodb_snapshot_isolation = ON"); err == nil {
		params["innodb_snapshot_isolation"] = "ON"
	}
	return params
}

func (e engine) mysql(t testing.TB) *mysqldriver.Config {
	t.Helper()
	cfg, err := mysqldriver.ParseDSN(e.dsn)
	must(t, err)
	return cfg
}

func (e engine) url(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(e.dsn)
	must(t, err)
	return u
}

// with is the engine with a parameter of PostgreSQL in its DSN.
func (e engine) with(t testing.TB, name, value string) engine {
	t.Helper()
	u := e.url(t)
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a blank, to PostgreSQL
	e.dsn = u.String()
	return e
}

// as is the engine of PostgreSQL for another user, with the password x.
func (e engine) as(t testing.TB, user string) engine {
	t.Helper()
	u := e.url(t)
	u.User = url.UserPassword(user, "x")
	e.dsn = u.String()
	return e
}

func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	return engine{driver: driver, dsn: dsn}.open(t)
}

func (e engine) open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(e.driver, e.dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// store returns a store over its own pool; counts accept the tests' servers, which do not sync.
func (e engine) store(t testing.TB) *sqlstore.Store {
	t.Helper()
	return engines.MustNew(sqlstore.New(e.open(t), lossy))
}

func (e engine) dialector() gorm.Dialector {
	return map[ddl.Dialect]gorm.Dialector{ddl.SQLite: sqlite.Open(e.dsn), ddl.Postgres: postgres.Open(e.dsn), ddl.MySQL: mysql.Open(e.dsn)}[e.dialect]
}

func (e engine) gorm(t testing.TB) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(e.dialector(), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	pool, err := db.DB()
	must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return db
}

func (e engine) pgx(t testing.TB, most int32) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(e.dsn)
	must(t, err)
	cfg.MaxConns = most
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// patience is the timeout of what must happen, on a busy machine.
const patience = 3 * time.Minute

var (
	// once makes one attempt, with enough time.
	once = worker.Config{ClaimWait: -1, Timeout: patience}
	// long keeps its lease on a busy machine.
	long = worker.Config{FenceWindow: 10 * time.Minute, ClaimWait: patience, Timeout: patience}
	// lossy accepts, for counters, the tests' servers, which do not sync.
	lossy = sqlstore.Config{AllowDataLoss: true}
)

// ref returns a pointer to a value.
func ref[T any](v T) *T { return &v }

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s in %v", what, patience)
		}
	}
}

var must = engines.Must

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil { // also when the test is over
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// acquire leases a worker ID, and gives it back.
func acquire(t *testing.T, s driver.Store, cfg worker.Config) error {
	t.Helper()
	gen, err := worker.Open(t.Context(), s, cfg)
	if err != nil {
		return err
	}
	return gen.Close(context.Background())
}
