// Package gormtest has what the tests of gormplugin and of the graph writer share.
package gormtest

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Counter is a source whose ids are easy to read: Last+1, Last+2, …
type Counter struct {
	mu    sync.Mutex
	Last  int64
	Calls int
	Err   error // what each call returns
}

// Next returns one id.
func (c *Counter) Next(ctx context.Context) (int64, error) {
	ids := []int64{0}
	err := c.Fill(ctx, ids)
	return ids[0], err
}

// Fill returns the next numbers.
func (c *Counter) Fill(_ context.Context, ids []int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Calls++
	if c.Err != nil {
		return c.Err
	}
	for i := range ids {
		c.Last++
		ids[i] = c.Last
	}
	return nil
}

// Dry opens a handle that builds statements and sends none.
func Dry(tb testing.TB, cfg gormplugin.Config) *gorm.DB {
	tb.Helper()
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	Use(tb, db, cfg)
	return db
}

// Use installs a plugin.
func Use(tb testing.TB, db *gorm.DB, cfg gormplugin.Config) {
	tb.Helper()
	if err := db.Use(gormplugin.New(cfg)); err != nil {
		tb.Fatal(err)
	}
}

// Order is a parent whose child has a hook.
type Order struct {
	ID    sqltype.ID
	Name  string
	Lines []Line
}

// Line is a child of an Order.
type Line struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	OrderID sqltype.ID
	Hooked  int64 `gorm:"-"` // the key as BeforeCreate saw it
}

// BeforeCreate records the key.
func (l *Line) BeforeCreate(*gorm.DB) error { l.Hooked = l.ID; return nil }

// Item is a parent without hooks.
type Item struct {
	ID     sqltype.ID
	Name   string
	Prices []Price
}

// Price is a child of an Item.
type Price struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	ItemID sqltype.ID
	Cents  int64
}

// Dialect opens gorm on a mock of a database.
type Dialect struct {
	Name string
	Open func(gorm.ConnPool) gorm.Dialector
}

// Dialects returns PostgreSQL and MySQL.
func Dialects() []Dialect {
	return []Dialect{
		{"postgres", func(c gorm.ConnPool) gorm.Dialector { return postgres.New(postgres.Config{Conn: c}) }},
		{"mysql", func(c gorm.ConnPool) gorm.Dialector {
			return mysql.New(mysql.Config{Conn: c, SkipInitializeWithVersion: true})
		}},
	}
}

// Mock opens gorm, with a plugin, on a mock that accepts exactly the expected statements.
func (d Dialect) Mock(t *testing.T, source sqltype.Source) (*gorm.DB, sqlmock.Sqlmock) {
	t.Helper()
	conn, mock, err := sqlmock.New(sqlmock.QueryMatcherOption(sqlmock.QueryMatcherEqual))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	db, err := gorm.Open(d.Open(conn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	Use(t, db, gormplugin.Config{Source: source, Models: []any{Item{}, Price{}}})
	return db, mock
}

// SQLite opens a handle with the plugin on a new file of SQLite that enforces foreign keys, and
// makes the tables of the models.
func SQLite(tb testing.TB, cfg gormplugin.Config, models ...any) *gorm.DB {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.sqlite") + "?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"
	db, err := gorm.Open(sqlite.Open(path), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
	})
	Use(tb, db, cfg)
	if err := db.AutoMigrate(models...); err != nil {
		tb.Fatal(err)
	}
	return db
}
