package sqlite

import (
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Session returns a session of the handle whose Migrator keeps all rows.
func Session(db *gorm.DB) *gorm.DB {
	t, translates := db.Dialector.(gorm.ErrorTranslator)
	d := dialector{db.Dialector, t}
	db = db.Session(&gorm.Session{DisableNestedTransaction: true}) // it has a copy of the Config
	db.Dialector, db.TranslateError = d, db.TranslateError && translates
	return db
}

// dialector makes a migration use a rebuilder, and keys integers: in SQLite, only such a key
// is the rowid, which needs no index. sqltype says bigint for all databases.
type dialector struct {
	gorm.Dialector
	gorm.ErrorTranslator // gorm looks for it in the dialect
}

func (d dialector) DataTypeOf(f *schema.Field) string {
	if t := f.IndirectFieldType; f.PrimaryKey && (rows.IsID(t) || rows.IsNull(t)) && f.TagSettings["TYPE"] == "" {
		return "integer"
	}
	return d.Dialector.DataTypeOf(f)
}

func (d dialector) Migrator(db *gorm.DB) gorm.Migrator {
	return rebuilder{d.driver(db), migrator.Migrator{Config: migrator.Config{DB: db, Dialector: d}}, d}
}

// driver returns the driver's migrator, a struct around a migrator.Migrator or a pointer to one. It
// asks d for types.
func (d dialector) driver(db *gorm.DB) gorm.Migrator {
	value := reflect.ValueOf(d.Dialector.Migrator(db))
	pointer := reflect.New(reflect.Indirect(value).Type())
	driver := pointer.Elem()
	driver.Set(reflect.Indirect(value))
	if driver.Kind() == reflect.Struct && driver.FieldByName("Dialector").CanSet() {
		driver.FieldByName("Dialector").Set(reflect.ValueOf(d))
	}
	if value.Kind() == reflect.Pointer {
		driver = pointer
	}
	return driver.Interface().(gorm.Migrator)
}
