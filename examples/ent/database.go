package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/glebarez/go-sqlite" // or the driver of your database
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/examples/ent/db"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// open connects to what -db names and makes the tables; the database is where the
// worker numbers are as well. The client owns its connections.
func open(ctx context.Context, dsn string, lossy bool) (*db.Client, driver.Store, error) {
	pool, kind, err := connect(dsn)
	if err != nil {
		return nil, nil, fmt.Errorf("-db: %w", err)
	}
	client := db.NewClient(db.Driver(entsql.OpenDB(kind, pool)))
	if err = pool.PingContext(ctx); err == nil {
		err = client.Schema.Create(ctx)
	}
	if err != nil {
		_ = client.Close()
		return nil, nil, fmt.Errorf("-db: %w", err)
	}
	gone := dsn == "" // with the run, and its numbers with it
	store, err := sqlstore.New(pool, sqlstore.Config{AllowDataLoss: lossy || gone})
	return client, store, err
}

func connect(dsn string) (pool *sql.DB, kind string, err error) {
	scheme, _, isURL := strings.Cut(dsn, "://")
	switch {
	case dsn == "":
		if pool, err = sql.Open("sqlite", ":memory:?_pragma=foreign_keys(1)"); err == nil {
			pool.SetMaxOpenConns(1) // a database in memory lives in its connection
		}
		return pool, dialect.SQLite, err
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, "", err // pgx hides the password
		}
		return stdlib.OpenDB(*config), dialect.Postgres, nil
	case !isURL && filepath.Ext(dsn) == ".sqlite":
		file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: dsn}).EscapedPath(),
			RawQuery: "_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"}
		pool, err = sql.Open("sqlite", file.String())
		return pool, dialect.SQLite, err
	}
	return nil, "", errors.New("want postgres://… or a file that ends in .sqlite")
}
