package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// open connects to what -db names, or starts a server, which ends with done.
func open(ctx context.Context, dsn string) (db *sql.DB, dialect ddl.Dialect, done func(), err error) {
	started := &host{}
	dialect, err = kind(dsn)
	var pool *sql.DB
	switch {
	case err != nil:
	case dsn == "postgres":
		if server := testserver.NewPostgres(started); server != nil {
			pool, err = connector(server.DSN)
		}
		err = errors.Join(err, started.err)
	case dsn == "mariadb":
		var config *mysqldriver.Config
		if server := testserver.NewMariaDB(started); server != nil {
			if config, err = mysqldriver.ParseDSN(server.DSN); err == nil {
				pool, err = mysqlPool(config)
			}
		}
		err = errors.Join(err, started.err)
	case dialect == ddl.Postgres:
		pool, err = connector(dsn)
	default:
		pool, err = mysqlURL(dsn)
	}
	if err == nil {
		limit, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err = pool.PingContext(limit); err != nil {
			_ = pool.Close()
		}
	}
	if err != nil {
		started.end()
		return nil, "", nil, fmt.Errorf("-db %q: %w", redact(dsn), err)
	}
	return pool, dialect, func() { _ = pool.Close(); started.end() }, nil
}

func connector(dsn string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

func mysqlURL(dsn string) (*sql.DB, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("is not a URL; special characters in a password are written %40, for example")
	}
	if u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("want mysql://user:password@host:3306/database")
	}
	config, err := mysqldriver.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, err
	}
	config.Net, config.Addr, config.DBName = "tcp", u.Host, strings.Trim(u.Path, "/")
	if u.Port() == "" {
		config.Addr += ":3306"
	}
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	return mysqlPool(config)
}

func mysqlPool(config *mysqldriver.Config) (*sql.DB, error) {
	c, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// kind is whose SQL a -db of a known form speaks.
func kind(dsn string) (ddl.Dialect, error) {
	scheme, _, isURL := strings.Cut(dsn, "://")
	switch {
	case dsn == "postgres", isURL && (scheme == "postgres" || scheme == "postgresql"):
		return ddl.Postgres, nil
	case dsn == "mariadb", isURL && (scheme == "mysql" || scheme == "mariadb"):
		return ddl.MySQL, nil
	}
	return "", errors.New("want postgres://…, mysql://…, postgres or mariadb")
}

// redact hides the passwords of a DSN in a message: of what is no URL, and could
// have one anywhere, all.
func redact(dsn string) string {
	scheme, _, isURL := strings.Cut(dsn, "://")
	if !isURL || strings.ContainsAny(scheme, "@:=?/ ") {
		if strings.ContainsAny(dsn, "@:=?") {
			return "…"
		}
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return scheme + "://…"
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		q = url.Values{"…": nil}
	}
	for key := range q {
		if strings.Contains(strings.ToLower(key), "pass") {
			q.Set(key, "xxxxx")
		}
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.Redacted()
}

// host stands in for the test that a private server belongs to: what it would
// clean up at the end of the test is done by end, and its failure is err.
type host struct {
	testing.TB // nil: nothing else of it is called
	err        error
	cleanup    []func()
}

func (h *host) Helper()                        {}
func (h *host) Failed() bool                   { return false }
func (h *host) Cleanup(f func())               { h.cleanup = append(h.cleanup, f) }
func (h *host) Fatal(args ...any)              { h.err = errors.New(fmt.Sprint(args...)) }
func (h *host) Skipf(format string, a ...any)  { h.err = fmt.Errorf(format, a...) }
func (h *host) Errorf(format string, a ...any) { h.err = fmt.Errorf(format, a...) }
func (h *host) end() {
	for _, f := range h.cleanup {
		f()
	}
	h.cleanup = nil
}
