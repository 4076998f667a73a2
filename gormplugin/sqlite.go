package gormplugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// SQLite gives a row without a key the key max+1 where the key is an integer PRIMARY KEY, a
// rowid: no constraint sees that it was missing. And where the key is a bigint, it
// accepts NULL, and keeps an index beside the rows. A trigger would see the missing key, but
// gorm drops triggers when it makes a table again. So the tables that AutoMigrate and
// CreateTable make get a constraint for the key, and are WITHOUT ROWID: one B-tree, as with
// a rowid. gorm has no hook for either but its dialector.

const tableOptions = "gorm:table_options" // gorm's own setting

// registerSQLite puts a dialector of ours before SQLite's.
func (p *Plugin) registerSQLite(db *gorm.DB) error {
	if _, done := db.Dialector.(sqliteDialector); done || db.Name() != "sqlite" {
		return nil // done: by another Open with the same gorm.Config
	}
	if err := db.Callback().Raw().Before("gorm:raw").Register("snowkey:rebuild", keepWithoutRowid); err != nil {
		return fmt.Errorf("gormplugin: %w", err)
	}
	db.Dialector = sqliteDialector{db.Dialector, p}
	return nil
}

// sqliteDialector is the driver's, with a migrator of ours.
type sqliteDialector struct {
	gorm.Dialector
	plugin *Plugin
}

func (d sqliteDialector) Migrator(db *gorm.DB) gorm.Migrator {
	return sqliteMigrator{d.Dialector.Migrator(db), db, d}
}

// SavePoint is the driver's, as are the next two: gorm asks whether a dialector has them.
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
	// The type is never integer: a table that somebody rebuilds and that loses its WITHOUT
	// ROWID must not get a rowid of that name.
	expr.SQL = fmt.Sprintf("bigint NOT NULL CHECK (%s > 0)", m.db.Statement.Quote(f.DBName))
	if has {
		expr.SQL += " DEFAULT " + def
	}
	return expr
}

// CreateTable leaves the table's options to the caller who sets some.
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

// parse is nil for a table without a model.
func (m sqliteMigrator) parse(value any) *schema.Schema {
	stmt := &gorm.Statement{DB: m.db}
	if _, name := value.(string); name || stmt.ParseWithSpecialTableName(value, m.db.Statement.Table) != nil {
		return nil
	}
	return stmt.Schema
}

// sqliteKey is the sole key of a model if it is filled with integers, else nil. A type in
// its tag other than bigint stays what it is.
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

// wide reports that the model says its rows may be long: bytes, a serializer, types as text
// and blob, or a size above 200: SQLite advises WITHOUT ROWID for rows below a twentieth of a
// page, which has 4096 bytes by default, and splits those above a quarter of it.
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

// keyRebuild is the setting under which AlterColumn rebuilds a table for its key.
type keyRebuild struct {
	plain, checked string // the column as the driver writes it, and as it is to be
	rowid          bool
}

const keyRebuildSetting = "snowkey:key"

// AlterColumn of the key brings a table to the form that AutoMigrate gives a new one, with
// its rows, and with its indexes and triggers, which gorm's rebuild of a table drops.
func (m sqliteMigrator) AlterColumn(value any, name string) error {
	s := m.parse(value)
	if s == nil {
		return m.Migrator.AlterColumn(value, name)
	}
	f := m.dialector.plugin.sqliteKey(s)
	if f == nil || f.Name != name && f.DBName != name {
		return m.Migrator.AlterColumn(value, name)
	}
	if _, inTransaction := m.db.Statement.ConnPool.(gorm.TxCommitter); inTransaction {
		return fmt.Errorf("gormplugin: %s: alter it outside a transaction: within one, SQLite cannot switch foreign keys off, and its details would be deleted", fieldName(s, f))
	}
	column := m.db.Statement.Quote(f.DBName) + " "
	how := keyRebuild{plain: column + m.Migrator.FullDataTypeOf(f).SQL, checked: column + m.FullDataTypeOf(f).SQL, rowid: wide(s)}
	if options, said := m.db.Get(tableOptions); said {
		how.rowid = !strings.Contains(strings.ToUpper(fmt.Sprint(options)), "WITHOUT ROWID")
	}
	err := m.db.Connection(func(db *gorm.DB) error {
		return withoutForeignKeys(db, func(tx *gorm.DB) error {
			table := m.db.Statement.Table
			if table == "" {
				table = s.Table
			}
			var lost []string
			const query = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type, name"
			if err := tx.Raw(query, table).Scan(&lost).Error; err != nil {
				return err
			}
			if err := m.with(tx.Table(m.db.Statement.Table), keyRebuildSetting, how).AlterColumn(value, name); err != nil {
				return err
			}
			for _, statement := range lost {
				if err := tx.Exec(statement).Error; err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("gormplugin: %s: %w", fieldName(s, f), err)
	}
	return nil
}

// withoutForeignKeys runs fn in a transaction in which a table may be dropped and another
// take its name, without a thought for what refers to it. db is one connection.
func withoutForeignKeys(db *gorm.DB, fn func(tx *gorm.DB) error) (err error) {
	for _, pragma := range []struct {
		name string
		want int
	}{{"foreign_keys", 0}, {"legacy_alter_table", 1}} {
		var was int
		if err := db.Raw("PRAGMA " + pragma.name).Scan(&was).Error; err != nil {
			return err
		}
		if err := db.Exec(fmt.Sprintf("PRAGMA %s = %d", pragma.name, pragma.want)).Error; err != nil {
			return err
		}
		defer func() {
			err = errors.Join(err, db.Exec(fmt.Sprintf("PRAGMA %s = %d", pragma.name, was)).Error)
		}()
	}
	return db.Transaction(fn)
}

// keepWithoutRowid sees the statement by which gorm's migrator rebuilds a table. It writes
// the columns again, and forgets what stands behind them.
func keepWithoutRowid(db *gorm.DB) {
	rest, create := strings.CutPrefix(db.Statement.SQL.String(), "CREATE TABLE")
	if !create || db.Error != nil {
		return
	}
	name, columns, _ := strings.Cut(rest, "(")
	table, temporary := strings.CutSuffix(strings.Trim(name, " `"), "__temp")
	if !temporary {
		return
	}
	var without bool
	if v, set := db.Get(keyRebuildSetting); set {
		how := v.(keyRebuild)
		if !strings.Contains(columns, how.plain) {
			_ = db.AddError(fmt.Errorf("no column %q in %q", how.plain, rest))
			return
		}
		if !strings.Contains(strings.ToUpper(columns), "PRIMARY KEY") { // it stood in the type, as AUTOINCREMENT did
			how.checked += " PRIMARY KEY"
		}
		without, columns = !how.rowid, strings.Replace(columns, how.plain, how.checked, 1)
	} else {
		const query = "SELECT count(*) FROM pragma_table_list WHERE name = ? AND schema = 'main' AND wr"
		if err := db.Session(&gorm.Session{NewDB: true}).Raw(query, table).Scan(&without).Error; err != nil {
			_ = db.AddError(err)
			return
		}
	}
	if without {
		columns += " WITHOUT ROWID"
	}
	db.Statement.SQL.Reset()
	_, _ = db.Statement.SQL.WriteString("CREATE TABLE" + name + "(" + columns)
}
