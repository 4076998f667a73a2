package readme

import (
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestPagesOfGorm(t *testing.T) {
	open := func() *gorm.DB {
		db, err := gorm.Open(sqlite.Open(filepath.Join(t.TempDir(), "shop.sqlite")), &gorm.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	create := func(db *gorm.DB) error {
		if err := db.AutoMigrate(&Order{}, &OrderLine{}); err != nil {
			return err
		}
		order, err := createGraph(t.Context(), db)
		if err == nil && (order.ID == 0 || order.Lines[1].OrderID != order.ID) {
			t.Errorf("%+v", order)
		}
		return err
	}
	db := open()
	if err := withOpen(t.Context(), db, func() error { return create(db) }); err != nil {
		t.Error(err)
	}
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		t.Fatal(err)
	}
	db = open()
	if err := withNew(db, gen); err != nil {
		t.Error(err)
	}
	if err := create(db); err != nil {
		t.Error(err)
	}
}
