package integration

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// fillHandle is a handle on the database with the plugins given, in their order.
func fillHandle(t *testing.T, d database, plugins ...gorm.Plugin) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(d.open(t), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	for _, p := range plugins {
		if err := db.Use(p); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// newGenerator makes a generator of worker 1, for one test.
func newGenerator(t *testing.T) *core.Generator {
	t.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gen.Close)
	return gen
}

func fillPlugin(src sqltype.Source, models ...any) *gormplugin.Plugin {
	return gormplugin.New(gormplugin.Config{
		Source: src,
		Named:  map[string]sqltype.Source{"other": src},
		Models: models,
	})
}
