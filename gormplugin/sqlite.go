package gormplugin

import (
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Migrator is like db.Migrator(), except on SQLite, where its changes keep all rows: call
// gormplugin.Migrator(db).AutoMigrate instead of db.AutoMigrate.
//
// gorm changes a column or a constraint of SQLite by a copy of the table, and drops the table. With
// foreign keys on, that also deletes the rows that refer to it by ON DELETE CASCADE. Migrator turns them
// off meanwhile, on the connection that it uses, and commits only if the table still has all rows,
// columns, values and its primary key (except what DropColumn drops), and if, with foreign keys on, its
// own hold. It creates the table's indexes and triggers again, which gorm does not. Otherwise the table
// is as before, and the error names it.
//
// In a transaction, foreign keys cannot be turned off: there, the change of a table is refused if they
// are on, the table has rows, and a foreign key refers to it.
//
// On SQLite, Migrator also creates keys of sqltype's types as integer, so that they are the rowid, and
// treats integer and bigint as equal. AlterColumn(&Order{}, "ID") makes the key of an existing table the
// rowid, if the table has the clause PRIMARY KEY (id), as gorm writes it, and no key is NULL.
//
// The handle stays as it is, and needs no [Plugin]. If it is nil, Migrator panics like db.Migrator().
func Migrator(db *gorm.DB) gorm.Migrator {
	if checkDB(db) == nil && db.Name() == "sqlite" {
		t, translates := db.Dialector.(gorm.ErrorTranslator)
		d := sqliteDialector{db.Dialector, t}
		db = db.Session(&gorm.Session{DisableNestedTransaction: true}) // it has a copy of the Config
		db.Dialector, db.TranslateError = d, db.TranslateError && translates
	}
	return db.Migrator()
}

// sqliteDialector makes a migration use a rebuilder, and keys integers: in SQLite, only such a key
// is the rowid, which needs no index. sqltype says bigint for all databases.
type sqliteDialector struct {
	gorm.Dialector
	gorm.ErrorTranslator // gorm looks for it in the dialect
}

func (d sqliteDialector) DataTypeOf(f *schema.Field) string {
	if t := f.IndirectFieldType; f.PrimaryKey && (rows.IsID(t) || rows.IsNull(t)) && f.TagSettings["TYPE"] == "" {
		return "integer"
	}
	return d.Dialector.DataTypeOf(f)
}

func (d sqliteDialector) Migrator(db *gorm.DB) gorm.Migrator {
	return rebuilder{d.driver(db), migrator.Migrator{Config: migrator.Config{DB: db, Dialector: d}}, d}
}

// driver returns the driver's migrator, a struct around a migrator.Migrator, which asks d for types.
func (d sqliteDialector) driver(db *gorm.DB) gorm.Migrator {
	value := reflect.ValueOf(d.Dialector.Migrator(db))
	driver := reflect.New(value.Type()).Elem()
	driver.Set(value)
	if driver.Kind() == reflect.Struct && driver.FieldByName("Dialector").CanSet() {
		driver.FieldByName("Dialector").Set(reflect.ValueOf(d))
	}
	return driver.Interface().(gorm.Migrator)
}
