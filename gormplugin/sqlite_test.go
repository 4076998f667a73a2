package gormplugin_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Migrated has a column for each of sqltype's types.
type Migrated struct {
	ID     sqltype.ID
	Null   sqltype.NullID
	Key    *sqltype.Key[Order]
	Nulled sqltype.NullKey[Order]
	Own    sqltype.ID `gorm:"type:numeric"`
	Plain  int64
}

// AutoMigrate makes a key of sqltype's types an integer, so that it is the rowid. A second run
// changes nothing.
func TestSQLiteKeyIsTheRowid(t *testing.T) {
	db, _ := open(t, &Migrated{})
	var schema string
	if err := db.Raw("SELECT sql FROM sqlite_master WHERE name = 'migrateds'").Scan(&schema).Error; err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"`id` integer,", "`null` bigint,", "`own` numeric,", "`plain` integer,", "PRIMARY KEY (`id`)"} {
		if !strings.Contains(schema, want) {
			t.Errorf("%s lacks %s", schema, want)
		}
	}
	row := Migrated{ID: 4711}
	var rowid int64
	if err := errors.Join(db.Create(&row).Error, db.AutoMigrate(&Migrated{}), db.Raw("SELECT rowid FROM migrateds").Scan(&rowid).Error); err != nil || rowid != 4711 {
		t.Errorf("the rowid %d, %v", rowid, err)
	}
	var again string
	if err := db.Raw("SELECT sql FROM sqlite_master WHERE name = 'migrateds'").Scan(&again).Error; err != nil || again != schema {
		t.Errorf("%s became %s, %v", schema, again, err)
	}
	if err := errors.Join(db.Migrator().AddColumn(&Added{}, "More"), db.Migrator().AlterColumn(&Added{}, "More")); err != nil {
		t.Error(err)
	}
}

// Added is Migrated with one column more.
type Added struct {
	ID   sqltype.ID
	More sqltype.NullID
}

func (Added) TableName() string { return "migrateds" }

// The dialect of the handle still has what gorm looks for beside its interface.
func TestSQLiteSavepointsAndErrors(t *testing.T) {
	db, _ := open(t, &Order{}, &Line{})
	lost, kept := Order{}, Order{}
	if err := db.Transaction(func(tx *gorm.DB) error {
		err := tx.Transaction(func(tx *gorm.DB) error { return errors.Join(tx.Create(&lost).Error, errRefused) })
		return errors.Join(tx.Create(&kept).Error, map[bool]error{false: err}[errors.Is(err, errRefused)])
	}); err != nil {
		t.Fatal(err)
	}
	check(t, db, "orders", kept.ID.Int64())
	db.TranslateError = true
	if err := db.Create(&Order{ID: kept.ID}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Error(err)
	}
}
