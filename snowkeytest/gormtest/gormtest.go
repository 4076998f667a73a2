// Package gormtest opens gorm handles with reproducible keys for tests:
//
//	func TestOrders(t *testing.T) {
//		db := gormtest.Open(t, sqlite.Open(filepath.Join(t.TempDir(), "test.db")), snowkeytest.Config{}, &Order{})
//		…
//	}
package gormtest

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
)

// Open opens a handle whose plugin takes its ids from snowkeytest.New, and creates the tables of
// the models. The plugin is strict: it refuses a row whose key the database would make. gorm does
// not log. The handle's pool is closed when the test ends. An error fails the test at once.
//
// The tests of a package that share one database should not share rows: give the dialector a
// transaction, as postgres.Config.Conn, or each test a database.
func Open(t testing.TB, dialector gorm.Dialector, cfg snowkeytest.Config, models ...any) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if pool, err := db.DB(); err == nil { // it fails for a transaction, which belongs to the caller
		t.Cleanup(func() { _ = pool.Close() })
	}
	if err := db.Use(gormplugin.New(gormplugin.Config{Source: snowkeytest.New(t, cfg), Strict: true, Models: models})); err != nil {
		t.Fatal(err)
	}
	if err := gormplugin.Migrator(db).AutoMigrate(models...); err != nil {
		t.Fatal(err)
	}
	return db
}
