package gormplugin

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// sqliteDialector makes AutoMigrate write a key of ours as integer on SQLite, where a key of that
// type, and no other, is the rowid: without an index beside the rows. sqltype calls it bigint for
// all databases, since it cannot know gorm's types.
type sqliteDialector struct{ gorm.Dialector }

func useIntegerKeys(db *gorm.DB) {
	if _, done := db.Dialector.(sqliteDialector); !done && db.Name() == "sqlite" { // done: by another Open with the same gorm.Config
		db.Dialector = sqliteDialector{db.Dialector}
	}
}

func (d sqliteDialector) Migrator(db *gorm.DB) gorm.Migrator {
	return sqliteMigrator{d.Dialector.Migrator(db)}
}

type sqliteMigrator struct{ gorm.Migrator }

func (m sqliteMigrator) FullDataTypeOf(f *schema.Field) clause.Expr {
	expr := m.Migrator.FullDataTypeOf(f)
	if t := f.IndirectFieldType; f.PrimaryKey && (rows.IsID(t) || rows.IsNull(t)) && f.TagSettings["TYPE"] == "" {
		expr.SQL = strings.Replace(expr.SQL, "bigint", "integer", 1)
	}
	return expr
}

// gorm looks for the methods below, which the embedded interface hides.

func (d sqliteDialector) SavePoint(tx *gorm.DB, name string) error {
	if s, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return s.SavePoint(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (d sqliteDialector) RollbackTo(tx *gorm.DB, name string) error {
	if s, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return s.RollbackTo(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (d sqliteDialector) Translate(err error) error {
	if t, ok := d.Dialector.(gorm.ErrorTranslator); ok {
		return t.Translate(err)
	}
	return err
}
