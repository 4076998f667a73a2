package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/examples/data"
)

// open opens the database. The names of its tables begin with quickstart_.
func open(ctx context.Context, dsn string) (*gorm.DB, error) {
	pool, dialector, err := dialect(dsn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var db *gorm.DB
	if err = pool.PingContext(ctx); err == nil { // gorm.Open has no context
		db, err = gorm.Open(dialector, &gorm.Config{
			Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: "quickstart_"},
		})
	}
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

func dialect(dsn string) (*sql.DB, gorm.Dialector, error) {
	switch ext := filepath.Ext(dsn); {
	case dsn == "":
		pool, err := sql.Open(sqlite.DriverName, ":memory:?_pragma=foreign_keys(1)")
		if err == nil {
			pool.SetMaxOpenConns(1) // each connection has a memory of its own
		}
		return pool, sqlite.Dialector{Conn: pool}, err
	case ext == ".sqlite" || ext == ".db":
		if err := data.Touch(dsn); err != nil {
			return nil, nil, err
		}
		file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: dsn}).EscapedPath(),
			RawQuery: "_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"}
		pool, err := sql.Open(sqlite.DriverName, file.String())
		return pool, sqlite.Dialector{Conn: pool}, err
	case strings.HasPrefix(dsn, "postgres"):
		pool, err := sql.Open("pgx", dsn)
		return pool, postgres.New(postgres.Config{Conn: pool}), err
	}
	cfg, err := mysqldriver.ParseDSN(dsn)
	if err != nil {
		return nil, nil, err
	}
	cfg.ParseTime = true
	pool, err := sql.Open("mysql", cfg.FormatDSN())
	return pool, mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg}), err
}

func closePool(db *gorm.DB) {
	if pool, err := db.DB(); err == nil {
		_ = pool.Close()
	}
}
