package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The tables of docs/sqlite.md.
type (
	Client struct {
		ID sqltype.ID
	}
	clientOrder struct {
		ID         sqltype.ID
		CustomerID sqltype.ID `gorm:"index:orders_customer"`
		ParentID   *sqltype.ID
		Note       string
	}
)

func (Client) TableName() string      { return "customers" }
func (clientOrder) TableName() string { return "orders" }

// liteOld makes the tables as they were, with rows: key is the type of the orders' key.
func liteOld(t *testing.T, db *gorm.DB, key string) {
	t.Helper()
	for _, statement := range []string{
		"CREATE TABLE customers (`id` bigint, PRIMARY KEY (`id`))",
		"CREATE TABLE orders (`id` " + key + ", `customer_id` bigint REFERENCES customers (id), `parent_id` bigint REFERENCES orders (id), `note` text" +
			map[bool]string{true: ", PRIMARY KEY (`id`)"}[!strings.Contains(key, "PRIMARY")] + ")",
		"CREATE TABLE lines (id bigint PRIMARY KEY, order_id bigint NOT NULL REFERENCES orders (id) ON DELETE CASCADE)",
		"CREATE INDEX orders_customer ON orders (customer_id)",
		"CREATE VIEW notes AS SELECT note FROM orders",
		"INSERT INTO customers (id) VALUES (1934567890123456789)",
	} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for i := range 50 {
		id := 2034567890123456789 + i*17
		parent := any(nil)
		if i > 0 {
			parent = id - 17
		}
		if err := db.Exec("INSERT INTO orders (id, customer_id, parent_id, note) VALUES (?, 1934567890123456789, ?, ?)", id, parent, fmt.Sprint("note ", i)).Error; err != nil {
			t.Fatal(err)
		}
		if err := db.Exec("INSERT INTO lines (id, order_id) VALUES (?, ?)", i+1, id).Error; err != nil {
			t.Fatal(err)
		}
	}
}

// checkMigrated checks that all rows exist, and that references to them still work.
func checkMigrated(t *testing.T, db *gorm.DB, without bool) {
	t.Helper()
	text, is := liteTable(t, db, "orders")
	if is != without || !strings.Contains(text, "NOT NULL") {
		t.Errorf("WITHOUT ROWID %v: %s", is, text)
	}
	const sums = "SELECT count(*) || ' ' || min(id) || ' ' || max(id) || ' ' || count(DISTINCT note) FROM orders"
	if got := liteScan[string](t, db, sums); got != "50 2034567890123456789 2034567890123457622 50" {
		t.Error(got)
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM lines JOIN orders ON orders.id = order_id":                               50,
		"SELECT count(*) FROM pragma_foreign_key_check":                                                0,
		"SELECT count(*) FROM pragma_foreign_key_list('orders')":                                       2,
		"SELECT count(*) FROM notes":                                                                   50,
		"SELECT count(*) FROM sqlite_master WHERE name = 'orders_customer' AND tbl_name = 'orders'":    1,
		"SELECT count(*) FROM sqlite_master WHERE name LIKE 'orders__%' AND name <> 'orders_customer'": 0,
		"PRAGMA foreign_keys":       1,
		"PRAGMA legacy_alter_table": 0,
	} {
		if n := liteScan[int](t, db, query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	for _, statement := range []string{
		"INSERT INTO orders (note) VALUES ('x')", "INSERT INTO orders (id) VALUES (NULL)", "INSERT INTO orders (id) VALUES (0)",
		"INSERT INTO orders (id, parent_id) VALUES (5, 6)", "INSERT INTO lines (id, order_id) VALUES (1000, 5)",
	} {
		if err := db.Exec(statement).Error; err == nil || !strings.Contains(err.Error(), "constraint failed") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if err := db.Exec("UPDATE orders SET parent_id = NULL").Error; err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("DELETE FROM orders WHERE id > 2034567890123456789").Error; err != nil {
		t.Fatal(err)
	}
	if n := liteScan[int](t, db, "SELECT count(*) FROM lines"); n != 1 {
		t.Errorf("%d lines, want the one whose order is left", n)
	}
}

// The statements of docs/sqlite.md do what it says.
func TestSQLiteMigrateBySQL(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "sqlite.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(doc), "```sql\n")
	script, _, found := strings.Cut(script, "```")
	if !found || !strings.Contains(script, "WITHOUT ROWID") {
		t.Fatal("docs/sqlite.md has no such statements")
	}
	for _, key := range []string{"bigint", "integer", "integer PRIMARY KEY AUTOINCREMENT"} {
		t.Run(key, func(t *testing.T) {
			db := fillHandle(t, onSQLite(t))
			liteOld(t, db, key)
			if err := db.Connection(func(one *gorm.DB) error { return one.Exec(script).Error }); err != nil {
				t.Fatal(err)
			}
			checkMigrated(t, db, true)
		})
	}
}

// AlterColumn of the key does the same, from each form that a table may have, over a pool
// of connections, and as often as one likes.
func TestSQLiteMigrateByGorm(t *testing.T) {
	for _, key := range []string{"bigint", "integer", "integer PRIMARY KEY AUTOINCREMENT", "bigint PRIMARY KEY"} {
		t.Run(key, func(t *testing.T) {
			db := liteHandle(t, onSQLite(t))
			liteOld(t, db, key)
			if err := db.Exec("CREATE TABLE heard (id bigint); CREATE TRIGGER hear AFTER INSERT ON orders BEGIN INSERT INTO heard VALUES (NEW.id); END").Error; err != nil {
				t.Fatal(err)
			}
			// Other connections are idle, and could be used for what must run on one.
			pool, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			first, err := pool.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			second, err := pool.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if first.Close() != nil || second.Close() != nil {
				t.Fatal("closing connections")
			}
			for _, name := range []string{"ID", "id"} {
				if err := db.Migrator().AlterColumn(&clientOrder{}, name); err != nil {
					t.Fatal(err)
				}
			}
			var heard int
			if err := db.Create(&clientOrder{CustomerID: 1934567890123456789}).Error; err != nil {
				t.Fatal(err)
			}
			if heard = liteScan[int](t, db, "SELECT count(*) FROM heard"); heard != 1 {
				t.Errorf("the trigger heard %d rows", heard)
			}
			if err := db.Exec("DELETE FROM orders WHERE note = ''").Error; err != nil {
				t.Fatal(err)
			}
			tx, sent := record(db)
			if err := tx.AutoMigrate(&clientOrder{}); err != nil {
				t.Fatal(err)
			}
			for _, sql := range sent.sql {
				if strings.HasPrefix(sql, "CREATE") || strings.HasPrefix(sql, "ALTER") {
					t.Errorf("migrating again sent %s", sql)
				}
			}
			checkMigrated(t, db, true)
		})
	}
}

// If the migration fails, the table does not change.
func TestSQLiteMigrateRefused(t *testing.T) {
	db := liteHandle(t, onSQLite(t))
	liteOld(t, db, "bigint")
	err := db.Transaction(func(tx *gorm.DB) error { return tx.Migrator().AlterColumn(&clientOrder{}, "ID") })
	if err == nil || !strings.Contains(err.Error(), "clientOrder.ID: alter it outside a transaction") {
		t.Errorf("within a transaction: %v", err)
	}
	if err := db.Exec("INSERT INTO orders (note) VALUES ('without a key')").Error; err != nil {
		t.Fatal(err)
	}
	if err := db.Migrator().AlterColumn(&clientOrder{}, "ID"); err == nil || !strings.Contains(err.Error(), "NOT NULL constraint failed") {
		t.Errorf("with a row that has no key: %v", err)
	}
	if n := liteScan[int](t, db, "SELECT count(*) FROM orders"); n != 51 {
		t.Errorf("%d rows", n)
	}
	for pragma, want := range map[string]int{"foreign_keys": 1, "legacy_alter_table": 0} {
		if n := liteScan[int](t, db, "PRAGMA "+pragma); n != want {
			t.Errorf("%s is %d", pragma, n)
		}
	}
}

// If a program without the plugin lets gorm rebuild a table, the table loses WITHOUT ROWID and
// grows, but SQLite still makes no keys.
func TestSQLiteRebuiltWithoutPlugin(t *testing.T) {
	d := onSQLite(t)
	db := liteHandle(t, d, &liteNote{})
	if err := db.Create(&[]liteNote{{}, {}}).Error; err != nil {
		t.Fatal(err)
	}
	type sized struct {
		ID   sqltype.ID
		Text string `gorm:"size:20"`
	}
	if err := fillHandle(t, d).Table("lite_notes").Migrator().AlterColumn(&sized{}, "Text"); err != nil {
		t.Fatal(err)
	}
	if text, without := liteTable(t, db, "lite_notes"); without {
		t.Errorf("gorm keeps WITHOUT ROWID now: %s", text)
	}
	checkRefused(t, db, "lite_notes", "id")
	if err := db.Migrator().AlterColumn(&liteNote{}, "ID"); err != nil {
		t.Fatal(err)
	}
	if text, without := liteTable(t, db, "lite_notes"); !without {
		t.Error(text)
	}
}
