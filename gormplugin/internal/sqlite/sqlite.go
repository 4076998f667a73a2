// Package sqlite gives tables of SQLite a primary key that refuses rows without one.
//
// An integer PRIMARY KEY of SQLite is the rowid: a row without a key gets the key max+1, and no
// constraint detects that. A bigint PRIMARY KEY accepts NULL, and has an index beside the
// rows. A trigger could detect the missing key, but gorm drops triggers when it rebuilds a
// table. So AutoMigrate and CreateTable give the key a constraint, and make the table
// WITHOUT ROWID: one B-tree, like a rowid table. The dialector is gorm's only hook for that.
package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

const tableOptions = "gorm:table_options" // gorm's own setting

// Register wraps the dialector of a SQLite handle. It does nothing on other databases.
func Register(db *gorm.DB, registry *keys.Registry) {
	if _, done := db.Dialector.(dialector); !done && db.Name() == "sqlite" { // done: by another Open with the same gorm.Config
		db.Dialector = dialector{db.Dialector, registry}
	}
}

// dialector is the driver's dialector with our migrator.
type dialector struct {
	gorm.Dialector
	keys *keys.Registry
}

func (d dialector) Migrator(db *gorm.DB) gorm.Migrator {
	return migrator{d.Dialector.Migrator(db), db, d}
}

// SavePoint and the next two methods call the driver's: gorm looks for these interfaces.
func (d dialector) SavePoint(tx *gorm.DB, name string) error {
	if s, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return s.SavePoint(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (d dialector) RollbackTo(tx *gorm.DB, name string) error {
	if s, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return s.RollbackTo(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (d dialector) Translate(err error) error {
	if t, ok := d.Dialector.(gorm.ErrorTranslator); ok {
		return t.Translate(err)
	}
	return err
}

type migrator struct {
	gorm.Migrator
	db        *gorm.DB
	dialector dialector
}

// with returns the driver's migrator with a setting.
func (m migrator) with(db *gorm.DB, setting string, value any) gorm.Migrator {
	return m.dialector.Dialector.Migrator(db.Set(setting, value).Session(&gorm.Session{}))
}

// FullDataTypeOf adds the constraint to a key that is filled.
func (m migrator) FullDataTypeOf(f *schema.Field) clause.Expr {
	expr := m.Migrator.FullDataTypeOf(f)
	if m.dialector.key(f.Schema) != f {
		return expr
	}
	_, def, has := strings.Cut(expr.SQL, " DEFAULT ") // by its tag
	// The type is never integer: if a rebuilt table loses its WITHOUT ROWID, the key must not
	// become the rowid.
	expr.SQL = fmt.Sprintf("bigint NOT NULL CHECK (%s > 0)", m.db.Statement.Quote(f.DBName))
	if has {
		expr.SQL += " DEFAULT " + def
	}
	return expr
}

// CreateTable adds WITHOUT ROWID, unless the caller has set gorm:table_options.
func (m migrator) CreateTable(values ...any) error {
	if _, said := m.db.Get(tableOptions); said {
		return m.Migrator.CreateTable(values...)
	}
	for _, value := range values {
		own := m.Migrator
		if s := m.parse(value); s != nil && m.dialector.key(s) != nil && !wide(s) {
			own = m.with(m.db, tableOptions, " WITHOUT ROWID")
		}
		if err := own.CreateTable(value); err != nil {
			return err
		}
	}
	return nil
}

// parse returns the schema of a model. It is nil for a table without a model.
func (m migrator) parse(value any) *schema.Schema {
	stmt := &gorm.Statement{DB: m.db}
	if _, name := value.(string); name || stmt.ParseWithSpecialTableName(value, m.db.Statement.Table) != nil {
		return nil
	}
	return stmt.Schema
}

// key returns the only key of a model if the plugin fills it with integers, and else nil. It
// is nil also if the tag sets a type other than bigint, which is not changed.
func (d dialector) key(s *schema.Schema) *schema.Field {
	f := d.keys.SoleInteger(s)
	if f == nil || f.AutoIncrement {
		return nil
	}
	if t, said := f.TagSettings["TYPE"]; said && !strings.EqualFold(t, "bigint") {
		return nil
	}
	return f
}

// wide reports whether the model's rows may be long: it has a field of bytes, a serializer, a
// type such as text or blob, or a size above 200. SQLite recommends WITHOUT ROWID for rows
// below a twentieth of a page (4096 bytes by default), and splits rows above a quarter of it.
func wide(s *schema.Schema) bool {
	return slices.ContainsFunc(s.Fields, func(f *schema.Field) bool {
		long := f.DBName != "" && f.Size == 0 && (f.DataType == schema.Bytes || f.Serializer != nil)
		switch t, _, _ := strings.Cut(strings.ToLower(f.TagSettings["TYPE"]), "("); t {
		case "text", "mediumtext", "longtext", "clob", "blob", "mediumblob", "longblob", "json", "jsonb":
			return true
		}
		return long || (f.DataType == schema.Bytes || f.DataType == schema.String) && f.Size > 200
	})
}
