package gormplugin

import (
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Migrator is like db.Migrator(), except on SQLite, where its changes keep all rows. Call
// gormplugin.Migrator(db).AutoMigrate instead of db.AutoMigrate.
//
// gorm changes a column or a constraint of SQLite by a copy of the table, and drops the table. If
// foreign keys are on, that also deletes the rows that refer to it by ON DELETE CASCADE. Migrator turns
// foreign keys off meanwhile, on the one connection that it uses. It commits the change of a table only
// if no row, column, value, or part of the primary key is lost (apart from a column to drop), and if,
// with foreign keys on, those from and to the table hold. It creates the table's indexes and triggers
// again, which gorm leaves out. Otherwise the error names the table, and the table is as before.
//
// In a transaction, foreign keys cannot be turned off. There, a change of a table that has rows and
// that a foreign key refers to is refused, if foreign keys are on.
//
// On SQLite, Migrator also creates keys of sqltype's types as integer, so that they are the rowid, and
// takes integer and bigint for the same type. AlterColumn(&Order{}, "ID") makes the key of an existing
// table the rowid, unless that table declares it as id bigint PRIMARY KEY, or a row's key is NULL.
//
// The handle does not change, and needs no [Plugin]. If it is nil, Migrator panics, like db.Migrator().
func Migrator(db *gorm.DB) gorm.Migrator {
	if checkDB(db) == nil && db.Name() == "sqlite" {
		d := sqliteDialector{db.Dialector}
		db = db.Session(&gorm.Session{DisableNestedTransaction: true}) // rebuild has a savepoint
		db.Dialector = d                                               // of the session
	}
	return db.Migrator()
}

// sqliteDialector is the dialect of Migrator. In SQLite, only an integer key is the rowid, which needs
// no index. sqltype says bigint for all databases, since it does not import gorm.
type sqliteDialector struct{ gorm.Dialector }

func (d sqliteDialector) DataTypeOf(f *schema.Field) string {
	if t := f.IndirectFieldType; f.PrimaryKey && (rows.IsID(t) || rows.IsNull(t)) && f.TagSettings["TYPE"] == "" {
		return "integer"
	}
	return d.Dialector.DataTypeOf(f)
}

func (d sqliteDialector) Migrator(db *gorm.DB) gorm.Migrator {
	driver := d.Dialector.Migrator(db)
	if v := reflect.ValueOf(driver); v.Kind() == reflect.Struct { // a migrator.Migrator with methods of the driver
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		if f := c.FieldByName("Dialector"); f.CanSet() {
			f.Set(reflect.ValueOf(d))
			driver = c.Interface().(gorm.Migrator)
		}
	}
	return sqliteMigrator{driver, migrator.Migrator{Config: migrator.Config{DB: db, Dialector: d}}}
}

// Translate is a method that gorm looks for, and that the embedded interface hides.
func (d sqliteDialector) Translate(err error) error {
	if t, ok := d.Dialector.(gorm.ErrorTranslator); ok {
		return t.Translate(err)
	}
	return err
}

type sqliteMigrator struct {
	gorm.Migrator                   // the driver's
	base          migrator.Migrator // has what the interface lacks
}

// GetTypeAliases avoids changes from integer to bigint, which SQLite stores alike.
func (m sqliteMigrator) GetTypeAliases(name string) []string {
	return append(m.Migrator.GetTypeAliases(name), map[string][]string{"integer": {"bigint"}, "bigint": {"integer"}}[name]...)
}

func (m sqliteMigrator) AlterColumn(value any, name string) error {
	return m.rebuild(value, name, gorm.Migrator.AlterColumn, false)
}

func (m sqliteMigrator) DropColumn(value any, name string) error {
	return m.rebuild(value, name, gorm.Migrator.DropColumn, true)
}

func (m sqliteMigrator) CreateConstraint(value any, name string) error {
	return m.rebuild(value, name, gorm.Migrator.CreateConstraint, false)
}

func (m sqliteMigrator) DropConstraint(value any, name string) error {
	return m.rebuild(value, name, gorm.Migrator.DropConstraint, false)
}
