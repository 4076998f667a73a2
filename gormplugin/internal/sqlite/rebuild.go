// Package sqlite migrates tables of SQLite by gorm without losing rows.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/migrator"
)

// rebuilder is a migrator that keeps the rows where the driver changes a table by a copy of it.
type rebuilder struct {
	gorm.Migrator                   // the driver's
	base          migrator.Migrator // has methods that the interface lacks
	dialect       dialector
}

// GetTypeAliases avoids changes from integer to bigint, which SQLite stores alike.
func (m rebuilder) GetTypeAliases(name string) []string {
	equal := map[string][]string{"integer": {"bigint"}, "bigint": {"integer"}}
	return append(m.Migrator.GetTypeAliases(name), equal[name]...)
}

func (m rebuilder) AlterColumn(v any, n string) error {
	return m.rebuild(v, n, gorm.Migrator.AlterColumn, false)
}

func (m rebuilder) DropColumn(v any, n string) error {
	return m.rebuild(v, n, gorm.Migrator.DropColumn, true)
}

func (m rebuilder) CreateConstraint(v any, n string) error {
	return m.rebuild(v, n, gorm.Migrator.CreateConstraint, false)
}

func (m rebuilder) DropConstraint(v any, n string) error {
	return m.rebuild(v, n, gorm.Migrator.DropConstraint, false)
}

func (m rebuilder) rebuild(value any, name string, change func(gorm.Migrator, any, string) error, drop bool) error {
	if m.base.DB.DryRun { // the driver panics
		return gorm.ErrDryRunModeUnsupported
	}
	return m.base.RunWithValue(value, func(stmt *gorm.Statement) error {
		_, table := m.base.GuessConstraintInterfaceAndTable(stmt, name)
		column := name
		if stmt.Schema != nil && stmt.Schema.LookUpField(name) != nil {
			column = stmt.Schema.LookUpField(name).DBName
		}
		run := func(tx *gorm.DB) error {
			return m.begin(tx, func(tx *gorm.DB, foreignKeys bool) error {
				return keepRows(tx, table, column, drop, foreignKeys, func() error {
					return change(m.dialect.driver(tx), value, name)
				})
			})
		}
		var err error
		switch m.base.DB.Statement.ConnPool.(type) {
		case *sql.Conn, gorm.TxCommitter:
			err = run(m.base.DB)
		default:
			err = m.base.DB.Connection(run)
		}
		if err != nil {
			return fmt.Errorf("gormplugin: table %s: %w", table, err)
		}
		return nil
	})
}

// begin calls do in a transaction or a savepoint of one connection. Foreign keys are off, except in
// the caller's transaction. foreignKeys says whether they were on.
func (m rebuilder) begin(db *gorm.DB, do func(tx *gorm.DB, foreignKeys bool) error) (err error) {
	// If the context ended, database/sql would roll back after the PRAGMAs are set again.
	tx := db.Session(&gorm.Session{Context: context.WithoutCancel(db.Statement.Context)})
	tx.Dialector, tx.DisableNestedTransaction, tx.DefaultTransactionTimeout = m.dialect.Dialector, false, 0
	if p, ok := tx.Statement.ConnPool.(*gorm.PreparedStmtTX); ok { // a prepared PRAGMA has an effect only once
		tx.Statement.ConnPool = p.Tx
	}
	ctx, conn := tx.Statement.Context, tx.Statement.ConnPool
	var foreignKeys, legacy bool
	is := conn.QueryRowContext(ctx, "SELECT * FROM pragma_foreign_keys, pragma_legacy_alter_table")
	if err := is.Scan(&foreignKeys, &legacy); err != nil {
		return err
	}
	set := func(foreignKeys, legacy bool) error {
		pragmas := fmt.Sprintf("PRAGMA foreign_keys = %t; PRAGMA legacy_alter_table = %t", foreignKeys, legacy)
		_, err := conn.ExecContext(ctx, pragmas)
		return err
	}
	defer func() { err = errors.Join(err, set(foreignKeys, legacy)) }()
	if err := set(false, true); err != nil { // legacy: the copy's new name changes nothing that refers to the table
		return err
	}
	return tx.Transaction(func(tx *gorm.DB) error {
		if c, ok := tx.Statement.ConnPool.(committer); ok {
			tx = tx.Session(&gorm.Session{Context: ctx})
			tx.Statement.ConnPool = &pinned{c}
		}
		return do(tx, foreignKeys)
	})
}

type committer interface {
	gorm.ConnPool
	gorm.TxCommitter
}

// pinned hides the pool of a transaction, which gorm finds in a *sql.Tx: a driver that changes tables
// on a connection of the pool would wait for our transaction.
type pinned struct{ committer }

// keepRows makes a change of a table. After an error, it must be rolled back.
func keepRows(tx *gorm.DB, table, column string, drop, foreignKeys bool, change func() error) error {
	q := tx.Session(&gorm.Session{NewDB: true})
	// A write waits for other writers. After a read, SQLite would not wait.
	if err := q.Exec("DELETE FROM " + quote(table) + " WHERE false").Error; err != nil {
		return err
	}
	if names, err := referringTables(q, table, false); err != nil || names != "" {
		return cmp.Or(err, errRefers(names))
	}
	before, made, err := describeRows(q, table, column, drop)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, left, err := describeRows(q, table, column, drop)
	if err == nil && after != before {
		err = fmt.Errorf("the change would leave %s, not %s: give each row a key, or change the table by SQL",
			after, before)
	}
	uses := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(column) + `\b`)
	for _, create := range made {
		isTrigger := strings.HasPrefix(strings.ToUpper(create), "CREATE TRIGGER")
		switch dropped := drop && uses.MatchString(create); {
		case err != nil || dropped && !isTrigger:
		case dropped: // SQLite would take it, and refuse each INSERT
			err = fmt.Errorf("a trigger uses column %q: drop that trigger first: %s", column, create)
		case !slices.Contains(left, create):
			_, err = tx.Statement.ConnPool.ExecContext(tx.Statement.Context, create)
		}
	}
	var broken int64
	if err == nil && foreignKeys {
		err = q.Raw("SELECT count(*) FROM pragma_foreign_key_check(?)", table).Scan(&broken).Error
	}
	if broken > 0 {
		err = fmt.Errorf("%d of its foreign keys refer to no row, see PRAGMA foreign_key_check: "+
			"correct them first", broken)
	}
	return err
}

// describeRows describes the columns that must be kept: part of the key, number of values, least and
// greatest value (not of the changed column: its type may change). A column that was not copied has
// no values, or only the default. made are the statements that create indexes and triggers.
func describeRows(q *gorm.DB, table, column string, drop bool) (values string, made []string, err error) {
	var columns []struct{ Name, Head string }
	err = errors.Join(
		q.Raw(`SELECT name, quote('; ' || name || CASE pk WHEN 0 THEN '' ELSE ', part ' || pk || ' of the key' END || ': ')
			AS head FROM pragma_table_info(?) WHERE name <> ? OR NOT ?`, table, column, drop).Scan(&columns).Error,
		q.Raw(`SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = ? COLLATE NOCASE AND sql > ''`,
			table).Scan(&made).Error)
	selected := "count(*) || ' rows'"
	for _, c := range columns {
		name, limits := quote(c.Name), ""
		if c.Name != column {
			limits = fmt.Sprintf(" || ' from ' || quote(min(%s)) || ' to ' || quote(max(%s))", name, name)
		}
		selected += fmt.Sprintf(" || (%s || count(%s)%s)", c.Head, name, limits)
	}
	err = errors.Join(err, q.Raw("SELECT "+selected+" FROM "+quote(table)).Scan(&values).Error)
	return values, made, err
}

// RefuseRebuild refuses gorm's own rebuild of a table where it may lose rows.
func RefuseRebuild(db *gorm.DB) error {
	table, found := strings.CutPrefix(db.Statement.SQL.String(), "DROP TABLE `") // as the driver writes it
	if !found || db.DryRun {
		return nil
	}
	table = strings.TrimSuffix(table, "`")
	q := db.Session(&gorm.Session{NewDB: true, Logger: logger.Discard})
	db.Statement.Table = table // for the error
	if names, _ := referringTables(q, table, true); names != "" {
		return errRefers(names)
	}
	return nil
}

// referringTables returns the tables whose foreign keys refer to a table that has rows: DROP TABLE may
// delete or change their rows. With copied, it returns none unless gorm's copy exists.
func referringTables(q *gorm.DB, table string, copied bool) (names string, err error) {
	err = q.Raw(`SELECT coalesce(group_concat(DISTINCT replace(m.name, '__temp', '')), '')
		FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND f."table" = ? COLLATE NOCASE
		AND EXISTS (SELECT 1 FROM pragma_foreign_keys WHERE foreign_keys) AND EXISTS (SELECT 1 FROM `+quote(table)+`)
		AND (NOT ? OR EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?))`, table, copied, table+"__temp").Scan(&names).Error
	return names, err
}

func errRefers(names string) error {
	return fmt.Errorf("foreign keys of %s refer to it, and gorm would drop the table to change it, "+
		"which may delete their rows: use gormplugin.Migrator(db).AutoMigrate, outside a transaction", names)
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
