package gormtest

import (
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
)

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
