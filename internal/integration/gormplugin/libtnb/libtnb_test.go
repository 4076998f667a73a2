// Package libtnb tests gormplugin.Migrator with another dialector of SQLite. Its driver has the name of
// the one that all other tests use, so they cannot be in one program.
package libtnb

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/libtnb/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order is a table of before, whose key is not the rowid, and Changed what becomes of it.
type Order struct {
	ID   int64 `gorm:"type:bigint;primaryKey;autoIncrement:false"`
	Note string
	Old  string
}

type Changed struct {
	ID   sqltype.ID
	Note string `gorm:"size:40;check:note <> 'bad'"`
}

func (Changed) TableName() string { return "orders" }

type Line struct {
	ID      sqltype.ID
	OrderID sqltype.ID
	Order   *Changed `gorm:"constraint:OnDelete:CASCADE"`
}

// Its migrator is a pointer, looks for another connection while it changes a table, and makes triggers
// again by itself, also those that use a dropped column.
func TestMigrator(t *testing.T) {
	for _, inTransaction := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "test.sqlite")
		db, err := gorm.Open(sqlite.Open(file+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(1000)"), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(gormplugin.Migrator(db).AutoMigrate(&Order{}, &Line{}))
		for _, sql := range []string{
			"INSERT INTO orders VALUES (7, 'tea', 'x'), (8, 'milk', 'y')",
			"INSERT INTO lines VALUES (1, 7), (2, 7), (3, 8)",
			"CREATE TABLE log (id)",
			"CREATE TRIGGER of_id AFTER INSERT ON orders BEGIN INSERT INTO log VALUES (new.id); END",
			"CREATE TRIGGER of_old AFTER INSERT ON orders BEGIN INSERT INTO log VALUES (new.old); END",
		} {
			must(db.Exec(sql).Error)
		}
		migrate := func(tx *gorm.DB) error {
			return gormplugin.Migrator(tx).AutoMigrate(&Changed{})
		}
		if !inTransaction {
			must(migrate(db))
			must(gormplugin.Migrator(db).AlterColumn(&Changed{}, "ID"))
		} else if err := db.Transaction(migrate); err == nil || !strings.Contains(err.Error(), "foreign keys of lines refer to it") {
			t.Errorf("in a transaction: %v", err)
		}
		err = gormplugin.Migrator(db).DropColumn(&Order{}, "Old")
		if err == nil || !strings.Contains(err.Error(), `a trigger uses column "old"`) {
			t.Errorf("DropColumn: %v", err)
		}
		must(db.Exec("DROP TRIGGER of_old").Error)
		must(gormplugin.Migrator(db).DropColumn(&Order{}, "Old"))
		must(db.Exec("INSERT INTO orders (id, note) VALUES (9, 'rice')").Error)
		var orders, lines, logged, rowid int64
		must(db.Raw("SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM lines), (SELECT count(*) FROM log), "+
			"(SELECT rowid FROM orders WHERE id = 7)").Row().Scan(&orders, &lines, &logged, &rowid))
		if orders != 3 || lines != 3 || logged != 1 || !inTransaction && rowid != 7 {
			t.Errorf("%d orders, %d lines, %d logged, rowid %d", orders, lines, logged, rowid)
		}
	}
}
