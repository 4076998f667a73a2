package gormplugin_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A model before and after the change from auto-increment keys.
type (
	shopBefore struct {
		ID    int64
		Name  string
		Sales []saleBefore `gorm:"foreignKey:ShopID"`
	}
	saleBefore struct {
		ID     int64
		ShopID int64
		Cents  int64
	}
	shopAfter struct {
		ID    sqltype.Key[shopAfter]
		Name  string
		Sales []saleAfter `gorm:"foreignKey:ShopID"`
	}
	saleAfter struct {
		ID     int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		ShopID sqltype.Key[shopAfter]
		Cents  int64
	}
)

func (*shopAfter) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "shop"} }

func (shopBefore) TableName() string { return "shops" }
func (shopAfter) TableName() string  { return "shops" }
func (saleBefore) TableName() string { return "sales" }
func (saleAfter) TableName() string  { return "sales" }

// Old rows do not change, new ones have greater keys, and the migration can be repeated.
func TestFromAutoIncrement(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		gen := databases.Generator(t, 1)
		old := databases.Handle(t, d)
		must(t, old.AutoMigrate(&shopBefore{}, &saleBefore{}))
		before := []shopBefore{{Name: "a", Sales: []saleBefore{{Cents: 1}, {Cents: 2}}}, {Name: "b"}}
		must(t, old.Create(&before).Error)
		db := databases.Handle(t, d, fillPlugin(gen, &shopAfter{}, &saleAfter{}))
		migrateTwice(t, db, &shopAfter{}, &saleAfter{})
		after := shopAfter{Name: "c", Sales: []saleAfter{{Cents: 3}, {Cents: 4}}}
		must(t, errors.Join(db.Create(&after).Error, db.Create(&saleAfter{ShopID: sqltype.Key[shopAfter](before[0].ID), Cents: 5}).Error))
		var shops []shopAfter
		must(t, db.Preload("Sales", func(tx *gorm.DB) *gorm.DB { return tx.Order("id") }).Order("id").Find(&shops).Error)
		if len(shops) != 3 || shops[0].ID.Int64() != before[0].ID || len(shops[0].Sales) != 3 || shops[2].ID != after.ID || len(shops[2].Sales) != 2 {
			t.Errorf("%+v", shops)
		}
		checkParts(t, shops[2].ID.ID(), 1)
		// Old processes, as in docs/migrate.md: only a sequence stays below the new keys.
		late := shopBefore{Name: "late"}
		if err := old.Create(&late).Error; err != nil {
			t.Error(err)
		} else if below := late.ID < after.ID.Int64(); below != (d.Name == "postgres") {
			t.Errorf("an old process gets the key %d, next to %d", late.ID, after.ID)
		}
		must(t, old.Delete(&late).Error)
		trigger, err := ddl.Config{Dialect: ddl.SQLite}.RequireKey("shops", "id")
		must(t, err)
		// gorm leaves some properties, which the documented statements remove.
		byHand := map[string][]string{
			"postgres": {
				"ALTER TABLE shops ALTER COLUMN id DROP DEFAULT", "DROP SEQUENCE shops_id_seq",
				"ALTER TABLE sales ALTER COLUMN id DROP DEFAULT", "DROP SEQUENCE sales_id_seq",
			},
			"mysql": { // MySQL, unlike MariaDB, insists on it where a foreign key refers to the column
				"SET foreign_key_checks = 0",
				"ALTER TABLE shops MODIFY id bigint NOT NULL", "ALTER TABLE sales MODIFY id bigint NOT NULL",
				"SET foreign_key_checks = 1",
			},
			"sqlite": trigger, // the rowid stays
		}[d.Name]
		if err := db.Connection(func(tx *gorm.DB) error {
			for _, sql := range byHand {
				if err := tx.Exec(sql).Error; err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if d.Name != "sqlite" {
			checkNoAutoIncrement(t, db, &shopAfter{})
			checkNoAutoIncrement(t, db, &saleAfter{})
		}
		if err := old.Table("shops").Create(map[string]any{"name": "without a key"}).Error; err == nil {
			t.Error("a row without a key was taken")
		}
		must(t, db.Create(&shopAfter{Name: "d", Sales: []saleAfter{{Cents: 6}}}).Error)
		checkParts(t, sqltype.ID(shops[0].Sales[2].ID), 1)
	})
}
