package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
)

// onOldTables runs a test with each driver, on tables that a handle without the plugin has made, with foreign keys.
func onOldTables(t *testing.T, cfg gorm.Config, test func(t *testing.T, db *gorm.DB)) {
	for driver, open := range sqliteFile {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			cfg := cfg
			cfg.Logger = logger.Discard
			db := databases.HandleOf(t, open(filepath.Join(t.TempDir(), "old.sqlite"), true), &cfg)
			run(t, db, oldTables("bigint, PRIMARY KEY", "bigint", "ON DELETE CASCADE", true)...)
			test(t, db)
		})
	}
}

func run(t *testing.T, db *gorm.DB, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if err := db.Exec(sql).Error; err != nil {
			t.Fatalf("%v: %s", err, sql)
		}
	}
}

// AlterColumn turns the key of a table that gorm created into the rowid (docs/gorm.md).
func TestSQLiteAlterKey(t *testing.T) {
	onOldTables(t, gorm.Config{}, func(t *testing.T, db *gorm.DB) {
		run(t, db, extras...)
		m := gormplugin.Migrator(db)
		for _, model := range []any{&keyCustomer{}, &keyOrder{}, &keyLine{}} {
			must(t, m.AlterColumn(model, "ID"))
		}
		var wrong, objects int
		err := errors.Join(db.Raw("SELECT count(*) FROM (SELECT rowid AS r, id FROM customers UNION ALL SELECT rowid, id FROM orders UNION ALL SELECT rowid, id FROM lines) WHERE r <> id").Scan(&wrong).Error,
			db.Raw("SELECT count(*) FROM sqlite_master WHERE name IN ('orders_extra', 'orders_log', 'lines_log', 'notes')").Scan(&objects).Error)
		if rows := rowsOf(t, db); err != nil || wrong != 0 || objects != 4 || rows != allRows {
			t.Errorf("%d keys are not the rowid, %d of 4 indexes, triggers and views, the rows %s, %v", wrong, objects, rows, err)
		}
		again, sent := databases.Record(db)
		if err := gormplugin.Migrator(again).AutoMigrate(&keyCustomer{}, &keyOrder{}, &keyLine{}); err != nil || changes(sent.SQL) != "" {
			t.Errorf("AutoMigrate sent %s, %v", changes(sent.SQL), err)
		}
		if err := gormplugin.Migrator(db).AutoMigrate(&checkOrder{}); err != nil {
			t.Error(err)
		}
		if err := db.Exec("INSERT INTO orders (id) VALUES (0)").Error; err == nil || !strings.Contains(err.Error(), "CHECK constraint failed") {
			t.Errorf("the key 0: %v", err)
		}
	})
}

// A change that gorm would make wrong is refused, and the table stays.
func TestSQLiteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		sql  []string
		do   func(m gorm.Migrator) error
		want string
	}{
		"rows without a key":     {[]string{"INSERT INTO lines (order_id) VALUES (11), (12)"}, func(m gorm.Migrator) error { return m.AlterColumn(&keyLine{}, "ID") }, "give each row a key"},
		"keys that are negative": {[]string{"INSERT INTO lines (id) VALUES (-1)"}, func(m gorm.Migrator) error { return m.AutoMigrate(&checkLine{}) }, "CHECK constraint failed"},
		"a key without a clause": {[]string{"DROP TABLE lines", "CREATE TABLE lines (id bigint PRIMARY KEY, order_id bigint)", "INSERT INTO lines VALUES (1, 11)"},
			func(m gorm.Migrator) error { return m.AlterColumn(&keyLine{}, "ID") }, "id, part 1 of the key: 1"},
		"a table that is indented by tabs": {[]string{"DROP TABLE lines", "CREATE TABLE lines (\n\tid bigint,\n\torder_id bigint,\n\tPRIMARY KEY (id)\n)", "INSERT INTO lines VALUES (1, 11)"},
			func(m gorm.Migrator) error { return m.AutoMigrate(&checkLine{}) }, "order_id: 0 from NULL"},
		"a column that looks like a check": {[]string{"DROP TABLE lines", "CREATE TABLE lines (id bigint, check_in int NOT NULL DEFAULT 0, PRIMARY KEY (id))", "INSERT INTO lines VALUES (1, 11)"},
			func(m gorm.Migrator) error { return m.AutoMigrate(&checkLine{}) }, "from 11 to 11"},
		"a row without a parent": {[]string{"PRAGMA foreign_keys = OFF", "INSERT INTO lines (id, order_id) VALUES (99, 98)", "PRAGMA foreign_keys = ON"},
			func(m gorm.Migrator) error { return m.AutoMigrate(&checkLine{}) }, "1 of its foreign keys refer to no row"},
	} {
		t.Run(name, func(t *testing.T) {
			onOldTables(t, gorm.Config{}, func(t *testing.T, db *gorm.DB) {
				err := db.Connection(func(db *gorm.DB) error { // for the PRAGMA
					run(t, db, c.sql...)
					before := contentsOf(t, db)
					err := c.do(gormplugin.Migrator(db))
					if after := contentsOf(t, db); after != before {
						t.Errorf("%s became %s", before, after)
					}
					return err
				})
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "gormplugin: table lines: ") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// contentsOf returns the tables, their rows, and the PRAGMAs of the connection.
func contentsOf(t *testing.T, db *gorm.DB) string {
	t.Helper()
	var tables, lines []string
	must(t, errors.Join(db.Raw("SELECT sql FROM sqlite_master WHERE sql > ''").Scan(&tables).Error, db.Raw("SELECT quote(id) FROM lines ORDER BY id").Scan(&lines).Error))
	var on, legacy int
	must(t, errors.Join(db.Raw("PRAGMA foreign_keys").Scan(&on).Error, db.Raw("PRAGMA legacy_alter_table").Scan(&legacy).Error))
	return fmt.Sprint(tables, lines, on, legacy)
}

// Migrator keeps the rows on all kinds of handles.
func TestSQLiteHandles(t *testing.T) {
	one := func(t *testing.T, db *gorm.DB) *gorm.DB {
		pool, err := db.DB()
		must(t, err)
		pool.SetMaxOpenConns(1)
		return db
	}
	for name, c := range map[string]struct {
		cfg    gorm.Config
		handle func(t *testing.T, db *gorm.DB) *gorm.DB
	}{
		"one connection":                 {gorm.Config{}, one},
		"prepared":                       {gorm.Config{PrepareStmt: true}, one},
		"a timeout of transactions":      {gorm.Config{DefaultTransactionTimeout: time.Minute, DefaultContextTimeout: time.Minute}, one},
		"no nested transactions":         {gorm.Config{DisableNestedTransaction: true}, one},
		"translated errors":              {gorm.Config{TranslateError: true}, one},
		"a session with prepared":        {gorm.Config{}, func(t *testing.T, db *gorm.DB) *gorm.DB { return one(t, db).Session(&gorm.Session{PrepareStmt: true}) }},
		"a handle with the table's name": {gorm.Config{}, func(_ *testing.T, db *gorm.DB) *gorm.DB { return db.Table("orders") }},
		"dbresolver": {gorm.Config{}, func(t *testing.T, db *gorm.DB) *gorm.DB {
			must(t, db.Use(dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{db.Dialector}})))
			return db
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onOldTables(t, c.cfg, func(t *testing.T, plain *gorm.DB) {
				db := c.handle(t, plain)
				for range 2 { // with statements that are prepared
					must(t, gormplugin.Migrator(db).AutoMigrate(&checkOrder{}))
					must(t, gormplugin.Migrator(db).DropConstraint(&checkOrder{}, "chk_orders_id"))
				}
				run(t, plain, "CREATE TRIGGER orders_lines AFTER DELETE ON orders BEGIN DELETE FROM lines WHERE order_id = old.id; END")
				for range 2 {
					if err := plain.Transaction(func(tx *gorm.DB) error {
						m := gormplugin.Migrator(tx) // nothing refers to lines
						return errors.Join(m.AutoMigrate(&checkLine{}), m.DropConstraint(&checkLine{}, "chk_lines_id"))
					}); err != nil {
						t.Errorf("lines, in a transaction: %v", err)
					}
				}
				err := db.Transaction(func(tx *gorm.DB) error { return gormplugin.Migrator(tx).AutoMigrate(&checkOrder{}) })
				if err == nil || !strings.Contains(err.Error(), "outside a transaction") {
					t.Errorf("in a transaction: %v", err)
				}
				var on, legacy int
				err = errors.Join(plain.Raw("SELECT * FROM pragma_foreign_keys").Scan(&on).Error, plain.Raw("SELECT * FROM pragma_legacy_alter_table").Scan(&legacy).Error)
				if err != nil || on != 1 || legacy != 0 || rowsOf(t, plain) != allRows {
					t.Errorf("foreign_keys = %d, legacy_alter_table = %d, the rows %s, %v", on, legacy, rowsOf(t, plain), err)
				}
			})
		})
	}
}

// DropColumn drops the indexes of the column, and no others.
func TestSQLiteDropColumn(t *testing.T) {
	onOldTables(t, gorm.Config{}, func(t *testing.T, db *gorm.DB) {
		run(t, db, "CREATE INDEX orders_note ON orders (note)", "CREATE INDEX orders_parent ON orders (parent_id)")
		must(t, gormplugin.Migrator(db).DropColumn(&keyOrder{}, "Note"))
		var left []string
		err := db.Raw("SELECT name FROM sqlite_master WHERE type = 'index' AND sql > '' AND tbl_name = 'orders'").Scan(&left).Error
		if err != nil || len(left) != 1 || left[0] != "orders_parent" || db.Migrator().HasColumn("orders", "note") || rowsOf(t, db) != allRows {
			t.Errorf("the indexes %q and the rows %s are left, %v", left, rowsOf(t, db), err)
		}
	})
}

// A transaction may change a table that has no rows. TestSQLiteHandles changes one that no table refers to.
func TestSQLiteInTransaction(t *testing.T) {
	onOldTables(t, gorm.Config{}, func(t *testing.T, db *gorm.DB) {
		run(t, db, "CREATE TABLE selves (id bigint, parent_id bigint, PRIMARY KEY (id))", "INSERT INTO selves VALUES (1, NULL), (2, 1)")
		if err := db.Transaction(func(tx *gorm.DB) error {
			if err := gormplugin.Migrator(tx).AutoMigrate(&self{}); err == nil {
				t.Error("a foreign key to the table itself")
			}
			return nil // commit the rest
		}); err != nil {
			t.Error(err)
		}
		var n int
		if err := db.Raw("SELECT count(parent_id) + count(*) FROM selves").Scan(&n).Error; err != nil || n != 3 {
			t.Errorf("%d rows and references, %v", n, err)
		}
		run(t, db, "DELETE FROM customers")
		if err := db.Transaction(func(tx *gorm.DB) error { return gormplugin.Migrator(tx).AutoMigrate(&checkCustomer{}, &checkOrder{}) }); err != nil {
			t.Errorf("without rows: %v", err)
		}
	})
}

type self struct {
	ID       int64 `gorm:"primaryKey;autoIncrement:false"`
	ParentID *int64
	Parent   *self `gorm:"constraint:OnDelete:CASCADE"`
}

func (self) TableName() string { return "selves" }

// A context that is done changes nothing, and no connection stays without foreign keys.
func TestSQLiteContext(t *testing.T) {
	onOldTables(t, gorm.Config{}, func(t *testing.T, db *gorm.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		if err := db.Callback().Raw().Before("gorm:raw").Register("test:cancel", func(db *gorm.DB) {
			if strings.HasPrefix(db.Statement.SQL.String(), "INSERT INTO") {
				cancel()
			}
		}); err != nil {
			t.Fatal(err)
		}
		err := gormplugin.Migrator(db.WithContext(ctx)).AutoMigrate(&checkOrder{})
		again := gormplugin.Migrator(db.WithContext(ctx)).AutoMigrate(&checkLine{})
		var on int
		if errOn := db.Raw("PRAGMA foreign_keys").Scan(&on).Error; errOn != nil || on != 1 || again == nil || rowsOf(t, db) != allRows {
			t.Errorf("foreign_keys = %d, the rows %s, %v, %v, %v", on, rowsOf(t, db), err, again, errOn)
		}
	})
}

// Migrator waits for a writer, and keeps its rows.
func TestSQLiteWaits(t *testing.T) {
	for driver, open := range sqliteFile {
		t.Run(driver, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "old.sqlite")
			writer := databases.HandleOf(t, open(path, true), &gorm.Config{Logger: logger.Discard})
			run(t, writer, append(oldTables("bigint, PRIMARY KEY", "bigint", "ON DELETE CASCADE", true), "PRAGMA journal_mode = WAL")...)
			db := databases.HandleOf(t, open(path, true), &gorm.Config{Logger: logger.Discard})
			began := make(chan struct{})
			var once sync.Once
			must(t, db.Callback().Raw().Before("gorm:raw").Register("test:began", func(*gorm.DB) { once.Do(func() { close(began) }) }))
			migrated := make(chan error, 1)
			if err := writer.Transaction(func(tx *gorm.DB) error {
				err := tx.Exec("INSERT INTO lines (id, order_id) VALUES (24, 12)").Error
				go func() { migrated <- gormplugin.Migrator(db).AutoMigrate(&checkLine{}) }()
				<-began
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := <-migrated; err != nil || rowsOf(t, db) != "[1 2 4 2 1 4]" {
				t.Errorf("the rows %s, %v", rowsOf(t, db), err)
			}
		})
	}
}
