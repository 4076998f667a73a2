package gormplugin

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// An integer PRIMARY KEY of SQLite is the rowid: a row without a key gets the key max+1, and no
// constraint detects that. A bigint PRIMARY KEY accepts NULL, and has an index beside the
// rows. A trigger could detect the missing key, but gorm drops triggers when it rebuilds a
// table. So AutoMigrate and CreateTable give the key a constraint, and make the table
// WITHOUT ROWID: one B-tree, like a rowid table. The dialector is gorm's only hook for that.

const tableOptions = "gorm:table_options" // gorm's own setting

// registerSQLite wraps SQLite's dialector in ours.
func (p *Plugin) registerSQLite(db *gorm.DB) {
	if _, done := db.Dialector.(sqliteDialector); !done && db.Name() == "sqlite" { // done: by another Open with the same gorm.Config
		db.Dialector = sqliteDialector{db.Dialector, p}
	}
}

// sqliteDialector is the driver's dialector with our migrator.
type sqliteDialector struct {
	gorm.Dialector
	plugin *Plugin
}

func (d sqliteDialector) Migrator(db *gorm.DB) gorm.Migrator {
	return sqliteMigrator{d.Dialector.Migrator(db), db, d}
}

// SavePoint and the next two methods call the driver's: gorm looks for these interfaces.
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

type sqliteMigrator struct {
	gorm.Migrator
	db        *gorm.DB
	dialector sqliteDialector
}

// with is the driver's migrator with a setting.
func (m sqliteMigrator) with(db *gorm.DB, setting string, value any) gorm.Migrator {
	return m.dialector.Dialector.Migrator(db.Set(setting, value).Session(&gorm.Session{}))
}

// FullDataTypeOf adds the constraint to a key that is filled.
func (m sqliteMigrator) FullDataTypeOf(f *schema.Field) clause.Expr {
	expr := m.Migrator.FullDataTypeOf(f)
	if m.dialector.plugin.sqliteKey(f.Schema) != f {
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
func (m sqliteMigrator) CreateTable(values ...any) error {
	if _, said := m.db.Get(tableOptions); said {
		return m.Migrator.CreateTable(values...)
	}
	for _, value := range values {
		migrator := m.Migrator
		if s := m.parse(value); s != nil && m.dialector.plugin.sqliteKey(s) != nil && !wide(s) {
			migrator = m.with(m.db, tableOptions, " WITHOUT ROWID")
		}
		if err := migrator.CreateTable(value); err != nil {
			return err
		}
	}
	return nil
}

// parse returns the schema of a model. It is nil for a table without a model.
func (m sqliteMigrator) parse(value any) *schema.Schema {
	stmt := &gorm.Statement{DB: m.db}
	if _, name := value.(string); name || stmt.ParseWithSpecialTableName(value, m.db.Statement.Table) != nil {
		return nil
	}
	return stmt.Schema
}

// sqliteKey returns the only key of a model if the plugin fills it with integers, and else
// nil. It is nil also if the tag sets a type other than bigint, which is not changed.
func (p *Plugin) sqliteKey(s *schema.Schema) *schema.Field {
	if len(s.PrimaryFields) != 1 {
		return nil
	}
	f := s.PrimaryFields[0]
	if t, said := f.TagSettings["TYPE"]; f.AutoIncrement || said && !strings.EqualFold(t, "bigint") {
		return nil
	}
	fields, _ := p.snowflakeFields(s, "")
	i := slices.IndexFunc(fields, func(k snowflakeField) bool { return k.Field == f })
	if i < 0 {
		return nil
	}
	if k, err := kindOf(f, fields[i].order); err != nil || k.digits() > 0 {
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
