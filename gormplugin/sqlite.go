package gormplugin

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// sqliteDialector makes AutoMigrate declare sqltype's keys as integer. In SQLite, only such a key is
// the rowid, which needs no index. sqltype says bigint for all databases, since it does not import
// gorm.
type sqliteDialector struct{ gorm.Dialector }

func useIntegerKeys(db *gorm.DB) {
	if _, done := db.Dialector.(sqliteDialector); !done && db.Name() == "sqlite" { // done: gorm.Open was called again with the same gorm.Config
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
