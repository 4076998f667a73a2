package gormplugin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
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

// Migrator makes a key of sqltype's types an integer, so that it is the rowid. A second run changes
// nothing, and neither does a run of the plain AutoMigrate.
func TestSQLiteKeyIsTheRowid(t *testing.T) {
	db, _ := open(t)
	must(t, gormplugin.Migrator(db).AutoMigrate(&Migrated{}))
	schema := schemaOf(t, db)
	for _, want := range []string{"`id` integer,", "`null` bigint,", "`own` numeric,", "`plain` integer,", "PRIMARY KEY (`id`)"} {
		if !strings.Contains(schema, want) {
			t.Errorf("%s lacks %s", schema, want)
		}
	}
	row := Migrated{ID: 4711}
	var rowid int64
	err := errors.Join(db.Create(&row).Error, gormplugin.Migrator(db).AutoMigrate(&Migrated{}), db.AutoMigrate(&Migrated{}),
		db.Raw("SELECT rowid FROM migrateds").Scan(&rowid).Error)
	if err != nil || rowid != 4711 {
		t.Errorf("the rowid %d, %v", rowid, err)
	}
	if again := schemaOf(t, db); again != schema {
		t.Errorf("%s became %s", schema, again)
	}
	m := gormplugin.Migrator(db)
	must(t, errors.Join(m.AddColumn(&Added{}, "More"), m.AlterColumn(&Added{}, "More")))
}

func schemaOf(t *testing.T, db *gorm.DB) (schema string) {
	t.Helper()
	must(t, db.Raw("SELECT sql FROM sqlite_master WHERE name = 'migrateds'").Scan(&schema).Error)
	return schema
}

// Added is Migrated with one column more.
type Added struct {
	ID   sqltype.ID
	More sqltype.NullID
}

func (Added) TableName() string { return "migrateds" }

// db.Use and Migrator leave the handle's dialect as it is.
func TestSQLiteHandleStays(t *testing.T) {
	db, _ := open(t, &Order{}, &Line{})
	must(t, gormplugin.Migrator(db).AutoMigrate(&Order{}))
	if _, ok := db.Dialector.(*sqlite.Dialector); !ok {
		t.Errorf("the dialect is a %T", db.Dialector)
	}
	if _, ok := db.Migrator().(sqlite.Migrator); !ok {
		t.Errorf("the migrator is a %T", db.Migrator())
	}
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

// Unique is Migrated with an index that its rows may break.
type Unique struct {
	ID    sqltype.ID
	Plain int64 `gorm:"uniqueIndex"`
}

func (Unique) TableName() string { return "migrateds" }

// The errors of Migrator are translated as the handle's are.
func TestMigratorTranslates(t *testing.T) {
	for _, translate := range []bool{false, true} {
		db, _ := open(t, &Migrated{})
		db.TranslateError = translate
		must(t, db.Create(&[]Migrated{{}, {}}).Error)
		err := gormplugin.Migrator(db).AutoMigrate(&Unique{})
		if err == nil || errors.Is(err, gorm.ErrDuplicatedKey) != translate {
			t.Errorf("translate %t: %v", translate, err)
		}
	}
}

// On another database, Migrator is the handle's. A DryRun changes nothing.
func TestMigratorOfOthers(t *testing.T) {
	dry := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	if m := gormplugin.Migrator(dry); m != nil { // as its dialect returns
		t.Errorf("a %T", m)
	}
	db, _ := open(t, &Migrated{})
	schema := schemaOf(t, db)
	err := gormplugin.Migrator(db.Session(&gorm.Session{DryRun: true})).DropColumn(&Migrated{}, "Plain")
	if !errors.Is(err, gorm.ErrDryRunModeUnsupported) || schemaOf(t, db) != schema {
		t.Errorf("%s became %s, %v", schema, schemaOf(t, db), err)
	}
}

// Statements that drop a table are not refused, unless gorm replaces it by a copy.
func TestSQLiteDropTable(t *testing.T) {
	db, _ := open(t)
	for _, sql := range []string{
		"CREATE TABLE a (id integer PRIMARY KEY)", "CREATE TABLE b (a integer REFERENCES a (id) ON DELETE CASCADE)",
		"CREATE TABLE `a``b` (id int)", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)", "DROP TABLE `a`;",
		"DROP TABLE IF EXISTS `a`", "DROP TABLE `main`.`b`", "DROP TABLE `a``b`",
	} {
		if err := db.Exec(sql).Error; err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := db.Exec("DROP TABLE `a`").Error; err == nil || strings.Contains(err.Error(), "gormplugin") {
		t.Errorf("a table that is not there: %v", err)
	}
}

// DropColumn refuses a column that a trigger uses: SQLite would keep the trigger, and refuse each INSERT.
func TestMigratorKeepsTriggers(t *testing.T) {
	db, _ := open(t, &Added{})
	for _, sql := range []string{
		"CREATE TABLE log (id)",
		"CREATE TRIGGER of_more AFTER INSERT ON migrateds BEGIN INSERT INTO log VALUES (new.more); END",
		"CREATE TRIGGER of_id AFTER INSERT ON migrateds BEGIN INSERT INTO log VALUES (new.id); END",
	} {
		must(t, db.Exec(sql).Error)
	}
	m := gormplugin.Migrator(db)
	if err := m.DropColumn(&Added{}, "More"); err == nil || !strings.Contains(err.Error(), `a trigger uses column "more": drop that trigger first: CREATE TRIGGER of_more`) {
		t.Error(err)
	}
	must(t, errors.Join(db.Exec("DROP TRIGGER of_more").Error, m.DropColumn(&Added{}, "More"), db.Exec("INSERT INTO migrateds (id) VALUES (7)").Error))
	if got := stored(t, db, "log", "id"); len(got) != 1 || got[0] != 7 {
		t.Errorf("the other trigger has written %d", got)
	}
}

type Library struct {
	ID    sqltype.ID `gorm:"check:id > 0"`
	Books []Book     `gorm:"constraint:OnDelete:CASCADE"`
}

type Book struct {
	ID        sqltype.ID `gorm:"check:id > 1"`
	LibraryID sqltype.ID
}

// Migrator keeps the rows of tables WITHOUT ROWID. Their keys are the rowid afterwards.
func TestMigratorWithoutRowid(t *testing.T) {
	db, _ := open(t)
	for _, sql := range []string{
		"CREATE TABLE `libraries` (`id` bigint NOT NULL,PRIMARY KEY (`id`)) WITHOUT ROWID",
		"CREATE TABLE `books` (`id` bigint NOT NULL CHECK (`id` > 0),`library_id` bigint,PRIMARY KEY (`id`)," +
			"CONSTRAINT `fk_libraries_books` FOREIGN KEY (`library_id`) REFERENCES `libraries`(`id`) ON DELETE CASCADE) WITHOUT ROWID",
		"INSERT INTO libraries VALUES (1)", "INSERT INTO books VALUES (2, 1), (3, 1)",
	} {
		if err := db.Exec(sql).Error; err != nil {
			t.Fatal(err)
		}
	}
	m := gormplugin.Migrator(db)
	for range 2 {
		err := errors.Join(m.AutoMigrate(&Library{}, &Book{}), m.AlterColumn(&Library{}, "ID"), m.AlterColumn(&Book{}, "ID"))
		libraries, books, of := stored(t, db, "libraries", "rowid"), stored(t, db, "books", "rowid"), stored(t, db, "books", "library_id")
		if err != nil || fmt.Sprint(libraries, books, of) != "[1] [2 3] [1 1]" {
			t.Errorf("the rows %d, %d of %d, %v", libraries, books, of, err)
		}
	}
}
