package gormplugin_test

import (
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// checkedNote is refused by the database if its key is 0.
type checkedNote struct {
	ID   sqltype.ID `gorm:"check:id > 0"`
	Text string     `gorm:"size:20"`
}

// With the tag check:id > 0, a handle without the plugin cannot insert a row with the key 0.
func TestCheckRefusesZero(t *testing.T) {
	onFreshDatabase(t, []any{&checkedNote{}}, func(t *testing.T, d databases.Database, db *gorm.DB) {
		if err := databases.Handle(t, d).Create(&checkedNote{Text: "x"}).Error; err == nil || !strings.Contains(strings.ToLower(err.Error()), "constraint") {
			t.Errorf("without the plugin: %v", err)
		}
		if err := db.Create(&checkedNote{Text: "x"}).Error; err != nil {
			t.Errorf("with the plugin: %v", err)
		}
		var rows []checkedNote
		if err := db.Find(&rows).Error; err != nil || len(rows) != 1 || rows[0].ID <= 0 {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}

// Shops with auto-increment keys, whose model gets the tag.
type checkedShop struct {
	ID   sqltype.ID `gorm:"check:id > 0"`
	Name string
}

func (checkedShop) TableName() string { return "shops" }

// AutoMigrate adds the check to a table with auto-increment keys, but not in MySQL and MariaDB.
func TestCheckOfAutoIncrement(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		old := databases.Handle(t, d)
		if err := old.AutoMigrate(&shopBefore{}, &saleBefore{}); err != nil {
			t.Fatal(err)
		}
		if err := old.Create(&shopBefore{Name: "a", Sales: []saleBefore{{}, {}}}).Error; err != nil {
			t.Fatal(err)
		}
		db := databases.Handle(t, d, fillPlugin(databases.Generator(t, 1)))
		for range 2 {
			err := gormplugin.Migrator(db).AutoMigrate(&checkedShop{})
			if refused := err != nil && (strings.Contains(err.Error(), "Error 1901") || strings.Contains(err.Error(), "Error 3818")); refused != (d.Name == "mysql") || err != nil && !refused {
				t.Errorf("%v", err)
			}
		}
		var sales int64
		if err := db.Model(&saleBefore{}).Count(&sales).Error; err != nil || sales != 2 {
			t.Errorf("%d sales of 2, %v", sales, err)
		}
	})
}
