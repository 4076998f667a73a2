package main

import (
	"context"
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
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// open connects to what -db names. The tables get a prefix, so that a database
// of yours keeps its own.
func open(dsn string, log logger.Interface) (db *gorm.DB, name string, err error) {
	dialector, name, err := dialect(dsn)
	if err != nil {
		return nil, "", fmt.Errorf("-db %q: %w", redact(dsn), err)
	}
	db, err = gorm.Open(dialector, &gorm.Config{Logger: log, NamingStrategy: schema.NamingStrategy{TablePrefix: "quickstart_"}})
	if err != nil {
		return nil, "", fmt.Errorf("-db %q: %w", redact(dsn), oneLine(err))
	}
	pool, err := db.DB()
	if err != nil {
		return nil, "", err
	}
	if dsn == "" {
		pool.SetMaxOpenConns(1) // a database in memory lives in its connection
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := pool.PingContext(ctx); err != nil {
		_ = pool.Close()
		return nil, "", fmt.Errorf("-db %q: %w", redact(dsn), oneLine(err))
	}
	return db, name, nil
}

func dialect(dsn string) (gorm.Dialector, string, error) {
	scheme, _, isURL := strings.Cut(dsn, "://")
	switch {
	case dsn == "":
		return sqlite.Open(":memory:?_pragma=foreign_keys(1)"), "SQLite in memory (-db FILE.sqlite keeps it)", nil
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, "", oneLine(err)
		}
		conn := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
		return postgres.New(postgres.Config{Conn: conn}), "PostgreSQL " + cfg.Host, nil
	case isURL && (scheme == "mysql" || scheme == "mariadb"):
		cfg, err := mysqlConfig(dsn)
		if err != nil {
			return nil, "", err
		}
		return mysql.New(mysql.Config{DSNConfig: cfg}), "MySQL " + cfg.Addr, nil
	case !isURL && (filepath.Ext(dsn) == ".sqlite" || filepath.Ext(dsn) == ".db"):
		file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: dsn}).EscapedPath(),
			RawQuery: "_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"}
		return sqlite.Open(file.String()), "SQLite " + dsn, nil
	}
	return nil, "", errors.New("want postgres://…, mysql://… or a file that ends in .sqlite or .db")
}

// mysqlConfig turns mysql://user:password@host:port/database?param=value into
// the driver's own configuration.
func mysqlConfig(dsn string) (*mysqldriver.Config, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("is not a URL")
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
	cfg.ParseTime, cfg.Loc = true, time.UTC
	return cfg, nil
}

// redact hides the password of a DSN in a message.
func redact(dsn string) string {
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		return u.Redacted()
	}
	if i := strings.LastIndex(dsn, "@"); i >= 0 {
		return "…" + dsn[i:]
	}
	return dsn
}

// oneLine joins the lines in which some drivers tell their errors.
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
