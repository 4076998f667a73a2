package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
func open(ctx context.Context, dsn string, log logger.Interface) (db *gorm.DB, name string, err error) {
	pool, dialector, name, err := dialect(dsn)
	if err != nil {
		return nil, "", fmt.Errorf("-db %q: %w", redact(dsn), err)
	}
	// Before gorm asks the server anything: this can be interrupted.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err = pool.PingContext(ctx); err == nil {
		db, err = gorm.Open(dialector, &gorm.Config{
			Logger: log, DisableAutomaticPing: true,
			NamingStrategy: schema.NamingStrategy{TablePrefix: "quickstart_"},
		})
	}
	if err != nil {
		_ = pool.Close()
		return nil, "", fmt.Errorf("-db %q: %w", redact(dsn), oneLine(err))
	}
	return db, name, nil
}

func dialect(dsn string) (*sql.DB, gorm.Dialector, string, error) {
	scheme, _, isURL := strings.Cut(strings.ToLower(dsn), "://")
	ext := strings.ToLower(filepath.Ext(dsn))
	switch {
	case dsn == "":
		pool, err := sql.Open(sqlite.DriverName, ":memory:?_pragma=foreign_keys(1)")
		if err != nil {
			return nil, nil, "", err
		}
		pool.SetMaxOpenConns(1) // a database in memory lives in its connection
		return pool, sqlite.Dialector{Conn: pool}, "SQLite in memory (-db FILE.sqlite keeps it)", nil
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, nil, "", oneLine(err)
		}
		pool := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
		return pool, postgres.New(postgres.Config{Conn: pool}), "PostgreSQL " + cfg.Host, nil
	case isURL && (scheme == "mysql" || scheme == "mariadb"):
		cfg, err := mysqlConfig(dsn)
		if err != nil {
			return nil, nil, "", err
		}
		connector, err := mysqldriver.NewConnector(cfg)
		if err != nil {
			return nil, nil, "", err
		}
		pool := sql.OpenDB(connector)
		return pool, mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg}), "MySQL " + cfg.Addr, nil
	case !isURL && (ext == ".sqlite" || ext == ".db"):
		// SQLite's own words for a file that cannot be opened are misleading.
		f, err := os.OpenFile(dsn, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, nil, "", bare(err)
		}
		_ = f.Close()
		file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: dsn}).EscapedPath(),
			RawQuery: "_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"}
		pool, err := sql.Open(sqlite.DriverName, file.String())
		if err != nil {
			return nil, nil, "", err
		}
		return pool, sqlite.Dialector{Conn: pool}, "SQLite " + dsn, nil
	}
	return nil, nil, "", errors.New("want postgres://…, mysql://… or a file that ends in .sqlite or .db")
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
	cfg.ParseTime, cfg.Loc = true, time.UTC
	return cfg, nil
}

// redact hides the passwords of a DSN in a message.
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

// bare is the error without the path that the message names already.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// oneLine joins the lines in which some drivers tell their errors, those that
// repeat another left out.
func oneLine(err error) error {
	var told []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if !slices.ContainsFunc(told, func(t string) bool { return strings.Contains(t, line) }) {
			told = append(told, line)
		}
	}
	return errors.New(strings.Join(told, " "))
}
