package sqlite

import (
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// gorm's migrator rebuilds a table of SQLite to alter it. The code here keeps the form of its key.

// keyRebuild is the setting under which AlterColumn rebuilds a table for its key.
type keyRebuild struct {
	plain, checked string // the column as the driver writes it, and as we write it
	rowid          bool
}

const keyRebuildSetting = "snowkey:key"

// AlterColumn of the key converts a table to the form that AutoMigrate gives a new one. It keeps
// the rows, and also the indexes and triggers, which gorm's rebuild of a table drops.
func (m migrator) AlterColumn(value any, name string) error {
	s := m.parse(value)
	if s == nil {
		return m.Migrator.AlterColumn(value, name)
	}
	f := m.dialector.key(s)
	if f == nil || f.Name != name && f.DBName != name {
		return m.Migrator.AlterColumn(value, name)
	}
	if _, inTransaction := m.db.Statement.ConnPool.(gorm.TxCommitter); inTransaction {
		return fmt.Errorf("gormplugin: %s: alter it outside a transaction: within one, SQLite cannot switch foreign keys off, and the rows that refer to it would be deleted", keys.FieldName(f))
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
		return fmt.Errorf("gormplugin: %s: %w", keys.FieldName(f), err)
	}
	return nil
}

// withoutForeignKeys runs fn in a transaction in which a table can be dropped and another
// renamed to its name, without effect on the tables and views that refer to it. db must be one
// connection.
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

// KeepWithoutRowid changes the CREATE TABLE with which gorm's migrator rebuilds a table. gorm
// copies the columns, and drops the options after them. It runs before each Exec.
func KeepWithoutRowid(db *gorm.DB) {
	rest, create := strings.CutPrefix(db.Statement.SQL.String(), "CREATE TABLE")
	if !create || db.Error != nil || db.Name() != "sqlite" {
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
		if !strings.Contains(strings.ToUpper(columns), "PRIMARY KEY") { // it was part of the type, like AUTOINCREMENT
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
