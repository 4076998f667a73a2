package outage

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	sqlitedialect "github.com/glebarez/sqlite"
	driver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"

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
}

var (
	killed = how{"killed", (*testserver.Server).Kill, (*testserver.Server).Start}
	paused = how{"paused", (*testserver.Server).Pause, (*testserver.Server).Resume} // connections stay, and nothing answers
	locked = how{name: "locked"}                                                    // by another process

	postgres = database{"PostgreSQL", []how{killed, paused}, startPostgres}
	mariadb  = database{"MariaDB", []how{killed, paused}, startMariaDB}
	sqlite   = database{"SQLite", []how{locked}, startSQLite}
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
	return backend{
		open: func(t *testing.T, pool int) *sql.DB {
			db, err := sql.Open("pgx", s.DSN)
			must(t, err)
			return limited(t, db, pool)
		},
		dsn:     s.DSN,
		dialect: func(db *sql.DB) gorm.Dialector { return gormpostgres.New(gormpostgres.Config{Conn: db}) },
		dollars: true,
		away:    func() error { return h.away(s) },
		back:    func() error { return h.back(s) },
	}.withTables(t)
}

func startMariaDB(t *testing.T, h how) backend {
	s := testserver.NewMariaDB(t)
	return backend{
		open: func(t *testing.T, pool int) *sql.DB {
			cfg, err := driver.ParseDSN(s.DSN)
			must(t, err)
			cfg.Logger = &driver.NopLogger{} // it would tell of each connection that breaks
			connector, err := driver.NewConnector(cfg)
			must(t, err)
			return limited(t, sql.OpenDB(connector), pool)
		},
		dialect: func(db *sql.DB) gorm.Dialector { return mysql.New(mysql.Config{Conn: db}) },
		away:    func() error { return h.away(s) },
		back:    func() error { return h.back(s) },
	}.withTables(t)
}

func startSQLite(t *testing.T, _ how) backend {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	l := &locker{file: file}
	t.Cleanup(l.end)
	return backend{
		open: func(t *testing.T, pool int) *sql.DB {
			db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
			must(t, err)
			return limited(t, db, pool)
		},
		dialect: func(db *sql.DB) gorm.Dialector { return sqlitedialect.Dialector{Conn: db} },
		away:    l.lock,
		back:    l.unlock,
	}.withTables(t)
}

func limited(t *testing.T, db *sql.DB, pool int) *sql.DB {
	t.Helper()
	db.SetMaxOpenConns(pool)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
