package main

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
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
	scheme, _, isURL := strings.Cut(strings.ToLower(dsn), "://")
	switch ext := filepath.Ext(dsn); {
	case dsn == "":
		pool, err := sql.Open(sqlite.DriverName, ":memory:?_pragma=foreign_keys(1)")
		if err == nil {
			pool.SetMaxOpenConns(1) // each connection has a memory of its own
		}
		return pool, sqlite.Dialector{Conn: pool}, err
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		pool, err := sql.Open("pgx", dsn)
		return pool, postgres.New(postgres.Config{Conn: pool}), err
	case isURL && (scheme == "mysql" || scheme == "mariadb"):
		cfg, err := mysqlConfig(dsn)
		if err != nil {
			return nil, nil, err
		}
		pool, err := sql.Open("mysql", cfg.FormatDSN())
		return pool, mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg}), err
	case !isURL && (ext == ".sqlite" || ext == ".db"):
		f, err := os.OpenFile(dsn, os.O_RDWR|os.O_CREATE, 0o644) // SQLite's own error would mislead
		if err != nil {
			return nil, nil, err
		}
		_ = f.Close()
		file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: dsn}).EscapedPath(),
			RawQuery: "_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"}
		pool, err := sql.Open(sqlite.DriverName, file.String())
		return pool, sqlite.Dialector{Conn: pool}, err
	}
	return nil, nil, errors.New("want postgres://…, mysql://… or a file that ends in .sqlite or .db")
}

// mysqlConfig turns mysql://user:password@host:port/database into the driver's configuration.
func mysqlConfig(dsn string) (*mysqldriver.Config, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("is not a URL; write special characters in a password as %40, for example")
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
		cfg.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.ParseTime, cfg.Loc = true, time.UTC
	return cfg, nil
}

func closePool(db *gorm.DB) {
	if pool, err := db.DB(); err == nil {
		_ = pool.Close()
	}
}

// redact hides the password of a DSN in an error.
func redact(dsn string) string {
	dsn = regexp.MustCompile(`(?i)(password|passwd|pwd)=[^&\s]*`).ReplaceAllString(dsn, "$1=xxxxx")
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		return u.Redacted()
	}
	if i := strings.LastIndex(dsn, "@"); i >= 0 {
		return "…" + dsn[i:]
	}
	return dsn
}
