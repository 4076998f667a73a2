package backfill

import (
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// script executes the statements of a block, in one session.
func (db *engine) script(t *testing.T, block string) {
	t.Helper()
	db.SetMaxOpenConns(1)
	db.Run(t, strings.Split(strings.TrimSuffix(strings.TrimSpace(block), ";"), ";")...)
}

// Models of tables whose keys were uint, as docs/migrate.md says.
type (
	Order struct {
		ID    sqltype.ID `gorm:"type:bigint unsigned"`
		Lines []OrderLine
	}
	OrderLine struct {
		ID      sqltype.ID `gorm:"type:bigint unsigned"`
		OrderID sqltype.ID `gorm:"type:bigint unsigned"`
	}
)

// The statements of docs/migrate.md make the keys of two tables and what refers to them wider, and
// then remove AUTO_INCREMENT. AutoMigrate changes no type.
func TestWiderKey(t *testing.T) {
	blocks := engines.Documented(t, "migrate.md", "## MySQL and MariaDB", 2)
	onMySQL(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id int unsigned AUTO_INCREMENT PRIMARY KEY, note text)",
			"CREATE TABLE order_lines (id int unsigned AUTO_INCREMENT PRIMARY KEY, order_id int unsigned NOT NULL, CONSTRAINT order_lines_ibfk_1 FOREIGN KEY (order_id) REFERENCES orders (id))",
			"INSERT INTO orders (note) VALUES ('a'), ('b')", "INSERT INTO order_lines VALUES (1, 2)")
		db.script(t, blocks[0])
		db.run(t, "INSERT INTO orders (note) VALUES ('of an old program')")
		handle, err := gorm.Open(mysql.New(mysql.Config{Conn: db.DB}))
		must(t, err)
		if err := handle.AutoMigrate(&Order{}, &OrderLine{}); err != nil {
			t.Fatal(err)
		}
		db.Expect(t, "3", "SELECT count(*) FROM information_schema.columns WHERE table_schema = database() AND column_name IN ('id', 'order_id') AND column_type LIKE 'bigint% unsigned'")
		db.script(t, blocks[1])
		db.run(t, "INSERT INTO orders VALUES (2124631483221017871, 'c')", "INSERT INTO order_lines VALUES (2124631483221017872, 2124631483221017871)")
		if err := db.Try("INSERT INTO orders (note) VALUES ('d')"); err == nil {
			t.Error("a row without a key was written")
		}
		if err := db.Try("INSERT INTO order_lines VALUES (3, 77)"); err == nil {
			t.Error("there is no foreign key")
		}
	})
}

// The statements of docs/migrate.md swap the columns.
func TestSwap(t *testing.T) {
	blocks := engines.Documented(t, "migrate.md", "### Swap the columns", 1)
	onMySQL(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id {key}, created_at {time})",
			"CREATE TABLE order_lines (id {key}, order_id bigint NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))",
			"INSERT INTO orders (created_at) VALUES ("+db.at("2024-01-01 00:00:00")+"), ("+db.at("2025-01-01 00:00:00")+")",
			"INSERT INTO order_lines (order_id) VALUES (2), (2), (1)")
		if _, err := backfill.Run(t.Context(), db.DB, db.config(t)); err != nil {
			t.Fatal(err)
		}
		db.script(t, blocks[0])
		const both = "l.order_id = o.id AND l.order_id_old = o.id_old"
		db.Expect(t, "3", "SELECT count(*) FROM orders o JOIN order_lines l ON "+both+" WHERE o.id > 1000")
		db.run(t, "INSERT INTO orders (id) VALUES (5)", "INSERT INTO order_lines (id, order_id) VALUES (5, 5)")
		for _, bad := range []string{"order_lines (id, order_id) VALUES (6, 6)", "orders (id) VALUES (5)", "orders (created_at) VALUES (NULL)"} {
			if err := db.Try("INSERT INTO " + bad); err == nil {
				t.Errorf("%s is inserted", bad)
			}
		}
	})
}
