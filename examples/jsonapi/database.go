package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// database is what -db names. The lease has its own connections: it must be renewed also while
// requests use all others.
type database struct {
	dialector   gorm.Dialector
	rows, lease *sql.DB
}

// open connects to a PostgreSQL or to a file of SQLite.
func open(ctx context.Context, dsn string) (db database, err error) {
	if strings.HasPrefix(dsn, "postgres") {
		var cfg *pgx.ConnConfig
		if cfg, err = pgx.ParseConfig(dsn); err == nil {
			db.rows, db.lease = stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(pgxtype.AfterConnect)), stdlib.OpenDB(*cfg)
			db.dialector = postgres.New(postgres.Config{Conn: db.rows})
		}
	} else if err = data.Touch(dsn); err == nil {
		// Synchronous FULL, so that leases survive a power cut: ids are unique as long as they do.
		// Transactions lock at their beginning, because of two that have read only one can write.
		uri := fmt.Sprintf("file:%s?_txlock=immediate&_pragma=foreign_keys(1)&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)", dsn, patience.Milliseconds())
		if db.rows, err = sql.Open(sqlite.DriverName, uri); err == nil {
			db.lease, err = sql.Open(sqlite.DriverName, uri)
		}
		db.dialector = sqlite.Dialector{Conn: db.rows}
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		db.rows.SetMaxOpenConns(16) // other requests wait
		db.lease.SetMaxOpenConns(2)
		if err = db.lease.PingContext(ctx); err != nil {
			err = errors.Join(err, db.rows.Close(), db.lease.Close())
		}
	}
	if err != nil {
		err = fmt.Errorf("-db: %w", err) // the drivers hide passwords
	}
	return db, err
}
