package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// rebuild makes a change of a table that the driver makes by a copy of the table.
func (m sqliteMigrator) rebuild(value any, name string, change func(gorm.Migrator, any, string) error, drop bool) error {
	if m.base.DB.DryRun {
		return change(m.Migrator, value, name)
	}
	return m.base.RunWithValue(value, func(stmt *gorm.Statement) error {
		_, table := m.base.GuessConstraintInterfaceAndTable(stmt, name)
		column := name
		if stmt.Schema != nil {
			if f := stmt.Schema.LookUpField(name); f != nil {
				column = f.DBName
			}
		}
		if err := inSavepoint(m.base.DB, func(tx *gorm.DB, foreignKeys bool) error {
			driver := m.base.Dialector.Migrator(tx).(sqliteMigrator).Migrator
			return keepRows(tx, table, column, drop, foreignKeys, func() error { return change(driver, value, name) })
		}); err != nil {
			return fmt.Errorf("gormplugin: table %s: %w", table, err)
		}
		return nil
	})
}

// inSavepoint calls do with a session of one connection, whose foreign keys are off, except in a
// transaction.
func inSavepoint(db *gorm.DB, do func(tx *gorm.DB, foreignKeys bool) error) (err error) {
	pool := db.Statement.ConnPool
	switch p := pool.(type) { // which prepare: a prepared PRAGMA has an effect only once
	case *gorm.PreparedStmtDB:
		pool = p.ConnPool
	case *gorm.PreparedStmtTX:
		pool = p.Tx
	}
	_, pinned := pool.(*sql.Conn)
	if _, begun := pool.(gorm.TxCommitter); !begun && !pinned {
		sqlDB, err := db.DB()
		if err != nil {
			return err
		}
		conn, err := sqlDB.Conn(db.Statement.Context)
		if err != nil {
			return err
		}
		defer conn.Close()
		pool = conn
	}
	tx := db.Session(&gorm.Session{Context: db.Statement.Context}) // it has its own Statement
	tx.Statement.ConnPool = transaction{pool}
	var was struct{ ForeignKeys, LegacyAlterTable int }
	q := tx.Session(&gorm.Session{NewDB: true})
	if err := q.Raw("SELECT * FROM pragma_foreign_keys, pragma_legacy_alter_table").Scan(&was).Error; err != nil {
		return err
	}
	const pragmas = "PRAGMA foreign_keys = %d; PRAGMA legacy_alter_table = %d"
	defer func() { err = errors.Join(err, exec(tx, fmt.Sprintf(pragmas, was.ForeignKeys, was.LegacyAlterTable))) }()
	if err := exec(tx, fmt.Sprintf(pragmas+"; SAVEPOINT snowkey", 0, 1)); err != nil { // 1: the renamed copy changes nothing that refers to the table
		return err
	}
	kept := false
	defer func() {
		if !kept { // it fails if SQLite has rolled back all
			_ = exec(tx, "ROLLBACK TO snowkey; RELEASE snowkey")
		}
	}()
	if err := do(tx, was.ForeignKeys == 1); err != nil {
		return err
	}
	err = exec(tx, "RELEASE snowkey")
	kept = err == nil
	return err
}

// transaction is a connection on which gorm begins and ends no transaction.
type transaction struct{ gorm.ConnPool }

func (transaction) Commit() error   { return gorm.ErrInvalidTransaction }
func (transaction) Rollback() error { return gorm.ErrInvalidTransaction }

// exec runs statements even if the context is done.
func exec(tx *gorm.DB, sql string) error {
	_, err := tx.Statement.ConnPool.ExecContext(context.WithoutCancel(tx.Statement.Context), sql)
	return err
}

// keepRows makes a change of a table. If it returns an error, the change must be rolled back.
func keepRows(tx *gorm.DB, table, column string, drop, foreignKeys bool, change func() error) error {
	q := tx.Session(&gorm.Session{NewDB: true})
	if err := exec(tx, "DELETE FROM "+quoted(table)+" WHERE false"); err != nil { // it waits for other writers, which it could not after a read
		return err
	}
	if err := refuseDrop(q, table); err != nil {
		return err
	}
	var made []struct{ Name, SQL string } // what DROP TABLE drops, too
	before, err := contents(q, table, column)
	if err == nil {
		err = q.Raw("SELECT name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = ? COLLATE NOCASE AND sql > ''", table).Scan(&made).Error
	}
	if err == nil {
		err = change()
	}
	if err != nil {
		return err
	}
	after, err := contents(q, table, column)
	if err != nil {
		return err
	}
	for _, c := range before {
		if !slices.Contains(after, c) && !(drop && c.Name == column) {
			return fmt.Errorf("the column and its values, which are %+v, would be lost or changed in %+.300v: give each row a key, or change the table by SQL", c, after)
		}
	}
	for _, m := range made {
		var there int64
		if err := q.Raw("SELECT count(*) FROM sqlite_master WHERE name = ?", m.Name).Scan(&there).Error; err != nil {
			return err
		}
		if there == 0 {
			if err := exec(tx, m.SQL); err != nil && !drop { // else it may have used the column
				return err
			}
		}
	}
	var broken int64
	if foreignKeys {
		err = q.Raw(sqlBroken, table, table, table).Scan(&broken).Error
	}
	if broken > 0 {
		err = fmt.Errorf("%d of its foreign keys refer to no row, as PRAGMA foreign_key_check(%s) shows: correct them first", broken, table)
	}
	return err
}

// sqlBroken counts the rows of a table that refer to no row. It fails if the table lacks a unique index
// that a foreign key of another table needs.
const sqlBroken = `SELECT count(*) FROM (SELECT ? AS name UNION SELECT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) f
	WHERE m.type = 'table' AND f."table" = ? COLLATE NOCASE) t, pragma_foreign_key_check(t.name) c WHERE c."table" = ? COLLATE NOCASE`

// column is a column with its place in the primary key, or 0.
type column struct {
	Name   string
	PK     int
	Values string
}

// contents describes each column of a table. One that is not copied has no values, or only the default.
// The limits of the column to change are left out: '1.50' may become 1.5.
func contents(q *gorm.DB, table, changed string) ([]column, error) {
	var columns []column
	err := q.Raw("SELECT name, pk FROM pragma_table_info(?)", table).Scan(&columns).Error
	selected, dest := make([]string, len(columns)), make([]any, len(columns))
	for i := range columns {
		c := &columns[i]
		name, limits := quoted(c.Name), ""
		if c.Name != changed {
			limits = fmt.Sprintf(" || ' from ' || quote(min(%[1]s)) || ' to ' || quote(max(%[1]s))", name)
		}
		selected[i], dest[i] = fmt.Sprintf("count(%s) || ' values in ' || count(*) || ' rows'%s", name, limits), &c.Values
	}
	if err == nil {
		err = q.Statement.ConnPool.QueryRowContext(q.Statement.Context, "SELECT "+strings.Join(selected, ", ")+" FROM "+quoted(table)).Scan(dest...)
	}
	return columns, err
}

// refuseRebuild refuses gorm's own rebuild of a table if that deletes or changes other rows.
func refuseRebuild(db *gorm.DB) {
	table, found := strings.CutPrefix(db.Statement.SQL.String(), "DROP TABLE `")
	if !found || db.Error != nil || db.DryRun {
		return
	}
	table = strings.TrimSuffix(table, "`")
	q := db.Session(&gorm.Session{NewDB: true})
	var rebuilt int64
	if err := q.Raw("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", table+"__temp").Scan(&rebuilt).Error; err != nil || rebuilt == 0 {
		return
	}
	if err := refuseDrop(q, table); err != nil {
		_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", table, err))
	}
}

// refuseDrop returns an error if DROP TABLE would delete the rows of a table that a foreign key refers
// to.
func refuseDrop(q *gorm.DB, table string) error {
	var names []string
	if err := q.Raw(`SELECT DISTINCT replace(m.name, '__temp', '') FROM sqlite_master m, pragma_foreign_key_list(m.name) f, pragma_foreign_keys
		WHERE m.type = 'table' AND f."table" = ? COLLATE NOCASE AND foreign_keys = 1 AND EXISTS (SELECT 1 FROM `+quoted(table)+")", table).Scan(&names).Error; err != nil {
		return err
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("a foreign key of %s refers to it, and gorm drops the table to change it, which may delete the rows that refer to it: use gormplugin.Migrator(db).AutoMigrate, outside a transaction", strings.Join(names, " and "))
}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
