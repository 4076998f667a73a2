package forget

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// sqlSite returns a site of a database, whose DSN may change.
func sqlSite(drv string, dsn func() string) *site {
	open := func(t *testing.T, idle int) *sqlstore.Store {
		t.Helper()
		db := openDB(t, drv, dsn())
		db.SetMaxIdleConns(idle)
		return engines.MustNew(sqlstore.New(db, sqlstore.Config{}))
	}
	return &site{
		open:  func(t *testing.T) driver.Store { t.Helper(); return open(t, 2) },
		admin: func(t *testing.T) admin { t.Helper(); return open(t, 0) },
		believe: func(t *testing.T, ns driver.Namespace) {
			t.Helper()
			db := openDB(t, drv, dsn())
			poll(t, func() error {
				for _, statement := range engines.WriteNamespace(ns) {
					if _, err := db.ExecContext(t.Context(), statement); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// openDB returns a pool that keeps no connection: an open one may keep a file, or a session.
func openDB(t *testing.T, drv, dsn string) *sql.DB {
	t.Helper()
	db := engines.MustNew(sql.Open(drv, dsn))
	db.SetMaxOpenConns(2)
	db.SetMaxIdleConns(0)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// execute repeats a statement while the server is not back.
func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		poll(t, func() error {
			_, err := db.ExecContext(t.Context(), statement)
			if err != nil {
				err = fmt.Errorf("%s: %w", statement, err)
			}
			return err
		})
	}
}

// until waits until a query has that answer.
func until(t *testing.T, db *sql.DB, want, query string) {
	t.Helper()
	poll(t, func() error {
		var got string
		err := db.QueryRowContext(t.Context(), query).Scan(&got)
		if err == nil && !strings.EqualFold(got, want) {
			err = fmt.Errorf("%s is %s, not %s", query, got, want)
		}
		return err
	})
}
