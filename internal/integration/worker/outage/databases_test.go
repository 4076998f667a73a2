package outage

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlitedialect "github.com/glebarez/sqlite"
	driver "github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A database can be taken away in some ways.
type database struct {
	name  string
	hows  []how
	start func(t *testing.T, h how) backend
}

// how a database is taken away and given back.
type how struct {
	name       string
	away, back func(s *testserver.Server) error
	far        time.Duration // added to each round trip
}

var (
	killed = how{name: "killed", away: (*testserver.Server).Kill, back: (*testserver.Server).Start}
	paused = how{name: "paused", away: (*testserver.Server).Pause, back: (*testserver.Server).Resume} // connections stay, and nothing answers
	far    = how{name: "killed, 5 ms away", away: killed.away, back: killed.back, far: 5 * time.Millisecond}
	locked = how{name: "locked"} // by another process
	cut    = how{name: "cut"}    // its network

	postgres = database{"PostgreSQL", []how{killed, paused, far}, startPostgres}
	mariadb  = database{"MariaDB", []how{killed, paused}, startMariaDB}
	sqlite   = database{"SQLite", []how{locked}, startSQLite}
	mysql    = database{"MySQL", []how{cut}, startMySQL} // where SNOWKEY_TEST_MYSQL gives one
)

// A backend is a database that runs, with the tables.
type backend struct {
	open       func(t *testing.T, pool int) *sql.DB // 0: no limit
	dsn        string
	dialect    func(*sql.DB) gorm.Dialector
	dollars    bool // $1, not ?
	away, back func() error
}

// placed is a query with the database's placeholders.
func (b backend) placed(query string) string {
	for n := 1; b.dollars && strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", fmt.Sprint("$", n), 1)
	}
	return query
}

func (b backend) withTables(t *testing.T) backend {
	t.Helper()
	db := b.open(t, 0)
	for _, statement := range tables {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	must(t, db.Close())
	return b
}

func startPostgres(t *testing.T, h how) backend {
	s := testserver.NewPostgres(t)
	dsn := s.DSN
	if h.far > 0 {
		dsn = strings.Replace(dsn, s.Addr, network.Delayed(t, s.Addr, h.far), 1)
	}
	return backend{
		open: func(t *testing.T, pool int) *sql.DB {
			db, err := sql.Open("pgx", dsn)
			must(t, err)
			return limited(t, db, pool)
		},
		dsn:     dsn,
		dialect: func(db *sql.DB) gorm.Dialector { return gormpostgres.New(gormpostgres.Config{Conn: db}) },
		dollars: true,
		away:    func() error { return h.away(s) },
		back:    func() error { return h.back(s) },
	}.withTables(t)
}

func startMariaDB(t *testing.T, h how) backend {
	s := testserver.NewMariaDB(t)
	cfg, err := driver.ParseDSN(s.DSN)
	must(t, err)
	b := overMySQL(t, cfg)
	b.away, b.back = func() error { return h.away(s) }, func() error { return h.back(s) }
	return b.withTables(t)
}

// startMySQL uses its own database on the server that is given.
func startMySQL(t *testing.T, _ how) backend {
	s, _ := testserver.External(t, testserver.KindMariaDB)
	cfg, err := driver.ParseDSN(testserver.Database(t, "mysql", s.DSN))
	must(t, err)
	l := network.LinkTo(t, cfg.Addr)
	cfg.Addr = l.Addr
	b := overMySQL(t, cfg)
	b.away, b.back = func() error { l.Cut(); return nil }, func() error { l.Mend(); return nil }
	return b.withTables(t)
}

func overMySQL(t *testing.T, cfg *driver.Config) backend {
	cfg.Logger = &driver.NopLogger{} // it would log each connection that breaks
	connector, err := driver.NewConnector(cfg)
	must(t, err)
	return backend{
		open:    func(t *testing.T, pool int) *sql.DB { return limited(t, sql.OpenDB(connector), pool) },
		dialect: func(db *sql.DB) gorm.Dialector { return gormmysql.New(gormmysql.Config{Conn: db}) },
	}
}

func startSQLite(t *testing.T, _ how) backend {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	other, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(60000)") // holds the write lock, as a backup does
	must(t, err)
	limited(t, other, 1)
	do := func(statement string) func() error {
		return func() error { _, err := other.Exec(statement); return err }
	}
	return backend{
		open: func(t *testing.T, pool int) *sql.DB {
			db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
			must(t, err)
			return limited(t, db, pool)
		},
		dialect: func(db *sql.DB) gorm.Dialector { return sqlitedialect.Dialector{Conn: db} },
		away:    do("BEGIN IMMEDIATE"),
		back:    do("ROLLBACK"),
	}.withTables(t)
}

func limited(t *testing.T, db *sql.DB, pool int) *sql.DB {
	t.Helper()
	db.SetMaxOpenConns(pool)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
