package gormplugin_test

import (
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

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
		must(t, old.AutoMigrate(&shopBefore{}, &saleBefore{}))
		must(t, old.Create(&shopBefore{Name: "a", Sales: []saleBefore{{}, {}}}).Error)
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
