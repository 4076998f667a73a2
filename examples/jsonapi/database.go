package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// database is what -db names.
type database struct {
	name        string
	dialector   gorm.Dialector
	rows, lease *sql.DB // for requests, and for the worker number
	gone        bool    // in memory: rows and ids end with the process, so no write of it can be lost
}

// connections is how many requests may use the database at once; others wait.
const connections = 16

func (d database) pools() []*sql.DB { return []*sql.DB{d.rows, d.lease} }

// open connects to the database. An error names -db, without a password.
func open(ctx context.Context, dsn string) (database, error) {
	db, err := dialect(dsn)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err = db.rows.PingContext(ctx); err != nil {
			for _, pool := range db.pools() {
				_ = pool.Close()
			}
		}
	}
	if err != nil {
		return database{}, fmt.Errorf("-db %q: %w", redact(dsn), err)
	}
	db.rows.SetMaxOpenConns(connections)
	db.rows.SetMaxIdleConns(connections)
	db.lease.SetMaxOpenConns(2)
	return db, nil
}

func dialect(dsn string) (database, error) {
	scheme, _, isURL := strings.Cut(dsn, "://")
	ext := strings.ToLower(filepath.Ext(dsn))
	switch {
	case dsn == ":memory:":
		return sqliteMemory()
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return database{}, err
		}
		pool := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
		return database{"PostgreSQL " + cfg.Host, postgres.New(postgres.Config{Conn: pool}), pool, stdlib.OpenDB(*cfg), false}, nil
	case isURL && (scheme == "mysql" || scheme == "mariadb"):
		cfg, err := mysqlConfig(dsn)
		if err != nil {
			return database{}, err
		}
		connector, err := mysqldriver.NewConnector(cfg)
		if err != nil {
			return database{}, err
		}
		pool := sql.OpenDB(connector)
		return database{"MySQL " + cfg.Addr, mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg}), pool, sql.OpenDB(connector), false}, nil
	case !isURL && (ext == ".sqlite" || ext == ".db"):
		return sqliteFile(dsn)
	}
	return database{}, errors.New("want postgres://…, mysql://…, :memory:, or a file that ends in .sqlite or .db")
}

func sqliteFile(name string) (database, error) {
	// SQLite's own words for a file that cannot be opened are misleading.
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return database{}, errors.Unwrap(err)
	}
	_ = f.Close()
	// Synchronous FULL, so that what was committed survives a power cut: ids are
	// unique as long as the worker numbers do. Transactions lock at their
	// beginning, or two that read first could not both go on to write.
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: name}).EscapedPath(),
		RawQuery: fmt.Sprintf("_txlock=immediate&_pragma=foreign_keys(1)&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)", patience.Milliseconds())}
	db, err := sqlitePools("SQLite "+name, file.String(), false)
	if err == nil {
		err = untilWAL(db.lease)
	}
	return db, err
}

// untilWAL connects. Of processes that begin at once with a new file one changes its journal to
// WAL, for which SQLite has the others fail rather than wait.
func untilWAL(pool *sql.DB) error {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := pool.PingContext(context.Background())
		if err == nil || !strings.Contains(err.Error(), "SQLITE_BUSY") || time.Since(began) > patience {
			return err
		}
	}
}

// sqliteMemory is a database that all connections of this process share. With a
// plain :memory: each connection has one of its own, and it is gone when
// database/sql gives that connection up, as after a request that was broken off.
func sqliteMemory() (database, error) {
	db, err := sqlitePools("SQLite in memory", fmt.Sprintf("file:/%s?vfs=memdb&_txlock=immediate&_pragma=foreign_keys(1)&_pragma=busy_timeout(%d)", rand.Text(), patience.Milliseconds()), true)
	if err == nil {
		_, err = db.lease.Conn(context.Background()) // kept until the pool is closed, for the last connection takes the database with it
	}
	return db, err
}

func sqlitePools(name, uri string, gone bool) (database, error) {
	var pools [2]*sql.DB
	for i := range pools {
		var err error
		if pools[i], err = sql.Open(sqlite.DriverName, uri); err != nil {
			return database{}, err
		}
	}
	return database{name, sqlite.Dialector{Conn: pools[0]}, pools[0], pools[1], gone}, nil
}

// mysqlConfig turns mysql://user:password@host:port/database?param=value into
// the driver's own configuration.
func mysqlConfig(dsn string) (*mysqldriver.Config, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("is not a URL; special characters in a password are written %40, for example")
	}
	if u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("want mysql://user:password@host:3306/database")
	}
	cfg, err := mysqldriver.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, err
	}
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", u.Host, strings.Trim(u.Path, "/")
	if u.Port() == "" {
		cfg.Addr += ":3306"
	}
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	return cfg, nil
}

// redact hides the password of a DSN in a message, and all of what is no URL but
// could hold one.
func redact(dsn string) string {
	scheme, rest, isURL := strings.Cut(dsn, "://")
	if !isURL {
		if strings.ContainsAny(rest+dsn, "@=") {
			return "…"
		}
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return scheme + "://…"
	}
	if strings.Contains(strings.ToLower(u.RawQuery), "pass") {
		u.RawQuery = "…"
	}
	return u.Redacted()
}
