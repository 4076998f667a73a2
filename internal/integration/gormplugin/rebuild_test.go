package gormplugin

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	cgosqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// sqliteFile opens a file of SQLite with one of gorm's two drivers.
var sqliteFile = map[string]func(path string, foreignKeys bool) gorm.Dialector{
	"modernc": func(path string, foreignKeys bool) gorm.Dialector {
		return sqlite.Open(fmt.Sprintf("file:%s?_pragma=foreign_keys(%t)&_pragma=busy_timeout(5000)&_pragma=synchronous(0)", path, foreignKeys))
	},
	"mattn": func(path string, foreignKeys bool) gorm.Dialector {
		return cgosqlite.Open(fmt.Sprintf("file:%s?_foreign_keys=%t&_busy_timeout=5000&_sync=0", path, foreignKeys))
	},
}

// Models of the tables customers, orders and lines: with foreign keys of the type R, with checks, and with another
// type of a column that is no key.
type (
	customer[R any] struct {
		ID     sqltype.ID
		Orders []order[R] `gorm:"foreignKey:CustomerID"`
	}
	order[R any] struct {
		ID         sqltype.ID
		CustomerID R
		ParentID   *R
		Note       string
		Children   []order[R] `gorm:"foreignKey:ParentID"`
		Lines      []line[R]  `gorm:"foreignKey:OrderID"`
	}
	line[R any] struct {
		ID      sqltype.ID
		OrderID *R
	}
	keyCustomer = customer[sqltype.ID]
	keyOrder    = order[sqltype.ID]
	keyLine     = line[sqltype.ID]

	checkCustomer struct {
		ID sqltype.ID `gorm:"check:id > 0"`
	}
	checkOrder struct {
		ID sqltype.ID `gorm:"check:id > 0"`
	}
	checkLine struct {
		ID sqltype.ID `gorm:"check:id > 0"`
	}

	realOrder struct {
		ID   sqltype.ID
		Note float64
	}
)

func (customer[R]) TableName() string   { return "customers" }
func (order[R]) TableName() string      { return "orders" }
func (line[R]) TableName() string       { return "lines" }
func (checkCustomer) TableName() string { return "customers" }
func (checkOrder) TableName() string    { return "orders" }
func (checkLine) TableName() string     { return "lines" }
func (realOrder) TableName() string     { return "orders" }

// extras are what a rebuild of a table drops, or what stops gorm's own.
var extras = []string{
	"CREATE UNIQUE INDEX orders_extra ON orders (note, id)",
	"CREATE TABLE log (order_id)",
	"CREATE TRIGGER orders_log AFTER INSERT ON orders BEGIN INSERT INTO log VALUES (new.id); END",
	"CREATE TRIGGER lines_log AFTER DELETE ON lines BEGIN UPDATE orders SET note = 'less' WHERE id = old.order_id; END",
	"CREATE VIEW notes AS SELECT note FROM orders",
}

// oldTables returns the statements that create the three tables, and rows. KEY, REF and DELETE are replaced.
func oldTables(key, ref, onDelete string, named bool) []string {
	tables := []string{
		"CREATE TABLE `customers` (`id` KEY)",
		"CREATE TABLE `orders` (`id` KEY,`customer_id` REF,`parent_id` REF,`note` text," +
			"CONSTRAINT `fk_customers_orders` FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) DELETE," +
			"CONSTRAINT `fk_orders_children` FOREIGN KEY (`parent_id`) REFERENCES `orders`(`id`) DELETE)",
		"CREATE TABLE `lines` (`id` KEY,`order_id` REF,CONSTRAINT `fk_orders_lines` FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) DELETE)",
	}
	if !named { // as written by hand
		tables = []string{
			"CREATE TABLE customers (\n  id KEY\n)",
			"CREATE TABLE orders (\n  id KEY,\n  customer_id REF REFERENCES customers (id) DELETE,\n  parent_id REF REFERENCES orders (id) DELETE,\n  note text\n)",
			"CREATE TABLE lines (\n  id KEY,\n  order_id REF REFERENCES orders (id) DELETE\n)",
		}
	}
	for i := range tables {
		if after, separate := strings.CutSuffix(key, ", PRIMARY KEY"); separate { // as gorm writes it for keys that it does not make itself
			tables[i] = strings.Replace(tables[i], "KEY", after, 1)
			tables[i] = strings.TrimSuffix(tables[i], ")") + ",PRIMARY KEY (`id`))"
		}
		tables[i] = strings.NewReplacer("id` KEY", "id` "+key, "id KEY", "id "+key, "REF,", ref+",", "REF ", ref+" ", "DELETE", onDelete).Replace(tables[i])
	}
	return append(tables,
		"INSERT INTO customers (id) VALUES (1)",
		"INSERT INTO orders (id, customer_id, parent_id, note) VALUES (11, 1, NULL, '5'), (12, 1, 11, '6')",
		"INSERT INTO lines (id, order_id) VALUES (21, 11), (22, 11), (23, 12)",
	)
}

// rowsOf returns how many rows there are, and how many references.
func rowsOf(t *testing.T, db *gorm.DB) string {
	t.Helper()
	var n [6]int
	if err := db.Raw("SELECT (SELECT count(*) FROM customers), (SELECT count(*) FROM orders), (SELECT count(*) FROM lines),"+
		"(SELECT count(customer_id) FROM orders), (SELECT count(parent_id) FROM orders), (SELECT count(order_id) FROM lines)").Row().Scan(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5]); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(n)
}

const allRows = "[1 2 3 2 1 3]"

// migration is a state of the three tables, and the models that AutoMigrate is called with.
type migration struct {
	key, ref string
	named    bool
	models   []any
	rebuilds bool // also through Migrator
}

var migrations = map[string]migration{
	"from auto-increment":                  {"integer PRIMARY KEY AUTOINCREMENT", "integer", true, []any{&keyCustomer{}, &keyOrder{}, &keyLine{}}, false},
	"from auto-increment, references stay": {"integer PRIMARY KEY AUTOINCREMENT", "integer", true, []any{&customer[uint]{}, &order[uint]{}, &line[uint]{}}, false},
	"references that are uint":             {"bigint, PRIMARY KEY", "bigint", true, []any{&customer[uint]{}, &order[uint]{}, &line[uint]{}}, false},
	"a check, auto-increment":              {"integer PRIMARY KEY AUTOINCREMENT", "integer", true, []any{&checkCustomer{}, &checkOrder{}, &checkLine{}}, true},
	"a check, integer":                     {"integer, PRIMARY KEY", "bigint", true, []any{&checkCustomer{}, &checkOrder{}, &checkLine{}}, true},
	"a check, bigint":                      {"bigint, PRIMARY KEY", "bigint", true, []any{&checkCustomer{}, &checkOrder{}, &checkLine{}}, true},
	"constraints without gorm's names":     {"integer PRIMARY KEY CHECK (id > 0)", "bigint", false, []any{&keyCustomer{}, &keyOrder{}, &keyLine{}}, true},
	"the type of a column":                 {"bigint, PRIMARY KEY", "bigint", true, []any{&realOrder{}}, true},
}

// ways are the ways to call AutoMigrate.
var ways = map[string]func(db *gorm.DB, models []any) error{
	"Migrator": func(db *gorm.DB, models []any) error { return gormplugin.Migrator(db).AutoMigrate(models...) },
	"Migrator in a transaction": func(db *gorm.DB, models []any) error {
		return db.Transaction(func(tx *gorm.DB) error { return gormplugin.Migrator(tx).AutoMigrate(models...) })
	},
	"Migrator on a connection": func(db *gorm.DB, models []any) error {
		return db.Connection(func(tx *gorm.DB) error { return gormplugin.Migrator(tx).AutoMigrate(models...) })
	},
	"AutoMigrate": func(db *gorm.DB, models []any) error { return db.AutoMigrate(models...) },
	"AutoMigrate in a transaction": func(db *gorm.DB, models []any) error {
		return db.Transaction(func(tx *gorm.DB) error { return tx.AutoMigrate(models...) })
	},
}

// AutoMigrate loses no row in SQLite: it keeps all, or it is refused.
func TestSQLiteKeepsRows(t *testing.T) {
	for driver, open := range sqliteFile {
		for _, foreignKeys := range []bool{true, false} {
			for _, onDelete := range []string{"ON DELETE CASCADE", "ON DELETE SET NULL", ""} {
				for from, m := range migrations {
					for way, autoMigrate := range ways {
						t.Run(fmt.Sprintf("%s/foreign keys %t/%s/%s/%s", driver, foreignKeys, onDelete, from, way), func(t *testing.T) {
							t.Parallel()
							db := databases.HandleOf(t, open(filepath.Join(t.TempDir(), "old.sqlite"), foreignKeys), &gorm.Config{Logger: logger.Discard}, gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 1)}))
							m.run(t, db, foreignKeys, onDelete, way, autoMigrate)
						})
					}
				}
			}
		}
	}
}

func (m migration) run(t *testing.T, db *gorm.DB, foreignKeys bool, onDelete, way string, autoMigrate func(db *gorm.DB, models []any) error) {
	before, plain := oldTables(m.key, m.ref, onDelete, m.named), strings.HasPrefix(way, "AutoMigrate")
	if !plain {
		before = append(before, extras...)
	}
	run(t, db, before...)
	err := autoMigrate(db, m.models)
	if rows := rowsOf(t, db); rows != allRows {
		t.Fatalf("%s rows and references of %s are left, %v", rows, allRows, err)
	}
	switch refused := err != nil && strings.Contains(err.Error(), "use gormplugin.Migrator(db).AutoMigrate, outside a transaction"); {
	case plain:
		if err != nil && !refused {
			t.Error(err)
		}
		return
	case strings.HasSuffix(way, "transaction") && foreignKeys && m.rebuilds:
		if !refused {
			t.Errorf("not refused: %v", err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	again, sent := databases.Record(db)
	must(t, autoMigrate(again, m.models))
	if sql := changes(sent.SQL); sql != "" {
		t.Errorf("the second call sent %s", sql)
	}
	var objects, broken, on int
	errRead := errors.Join(db.Raw("SELECT count(*) FROM sqlite_master WHERE name IN ('orders_extra', 'orders_log', 'lines_log', 'notes')").Scan(&objects).Error,
		db.Raw("SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken).Error, db.Raw("PRAGMA foreign_keys").Scan(&on).Error)
	if errRead != nil || objects != 4 || broken != 0 || on == 1 != foreignKeys {
		t.Errorf("%d of 4 indexes, triggers and views, %d broken foreign keys, foreign_keys = %d, %v", objects, broken, on, errRead)
	}
	if err := db.Exec("INSERT INTO lines (id, order_id) VALUES (99, 98)").Error; err == nil == foreignKeys {
		t.Errorf("a line without an order: %v", err)
	}
}

// changes returns the first statement that changes a table.
func changes(statements []string) string {
	for _, sql := range statements {
		if slices.Contains([]string{"CREATE", "ALTER", "DROP"}, strings.Fields(sql)[0]) {
			return sql
		}
	}
	return ""
}

var must = engines.Must
