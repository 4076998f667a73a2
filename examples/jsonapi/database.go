package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
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

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// database is what -db names.
type database struct {
	dialector   gorm.Dialector
	rows, lease *sql.DB // for requests, and for the worker ID
	inMemory    bool    // rows and leases end with the process
}

// connections limits the requests that use the database at the same time. The others wait.
const connections = 16

// open connects to the database.
func open(ctx context.Context, dsn string) (database, error) {
	db, err := dialect(dsn)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err = db.rows.PingContext(ctx); err != nil {
			err = errors.Join(err, db.rows.Close(), db.lease.Close())
		}
	}
	if err != nil {
		return database{}, fmt.Errorf("-db: %w", err) // the drivers hide passwords
	}
	db.rows.SetMaxOpenConns(connections)
	db.rows.SetMaxIdleConns(connections)
	db.lease.SetMaxOpenConns(2)
	return db, nil
}

func dialect(dsn string) (database, error) {
	ext := filepath.Ext(dsn)
	switch {
	case dsn == ":memory:":
		return sqliteMemory()
	case ext == ".sqlite" || ext == ".db":
		return sqliteFile(dsn)
	case strings.HasPrefix(dsn, "postgres"):
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return database{}, err
		}
		pool := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
		return database{postgres.New(postgres.Config{Conn: pool}), pool, stdlib.OpenDB(*cfg), false}, nil
	}
	cfg, err := mysqldriver.ParseDSN(dsn)
	if err != nil {
		return database{}, err
	}
	connector, err := mysqldriver.NewConnector(cfg)
	if err != nil {
		return database{}, err
	}
	pool := sql.OpenDB(connector)
	return database{mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg}), pool, sql.OpenDB(connector), false}, nil
}

func sqliteFile(name string) (database, error) {
	if err := data.Touch(name); err != nil {
		return database{}, err
	}
	// Synchronous FULL, so that leases survive a power cut: ids are unique as long as they do.
	// Transactions lock at their beginning, because of two that have read only one can write.
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: name}).EscapedPath(),
		RawQuery: fmt.Sprintf("_txlock=immediate&_pragma=foreign_keys(1)&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)", patience.Milliseconds())}
	db, err := sqlitePools(file.String(), false)
	if err == nil {
		err = untilWAL(db.lease)
	}
	return db, err
}

// untilWAL connects. While another process switches a new file to WAL, SQLite fails and does not
// wait.
func untilWAL(pool *sql.DB) error {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := pool.PingContext(context.Background())
		if err == nil || !strings.Contains(err.Error(), "SQLITE_BUSY") || time.Since(began) > patience {
			return err
		}
	}
}

// sqliteMemory is a database that all connections of this process share. With a plain :memory:
// each connection has a database of its own, which ends with the connection.
func sqliteMemory() (database, error) {
	db, err := sqlitePools(fmt.Sprintf("file:/%s?vfs=memdb&_txlock=immediate&_pragma=foreign_keys(1)&_pragma=busy_timeout(%d)", rand.Text(), patience.Milliseconds()), true)
	if err == nil {
		_, err = db.lease.Conn(context.Background()) // the database ends with its last connection
	}
	return db, err
}

func sqlitePools(uri string, inMemory bool) (database, error) {
	var pools [2]*sql.DB
	for i := range pools {
		var err error
		if pools[i], err = sql.Open(sqlite.DriverName, uri); err != nil {
			return database{}, err
		}
	}
	return database{sqlite.Dialector{Conn: pools[0]}, pools[0], pools[1], inMemory}, nil
}
