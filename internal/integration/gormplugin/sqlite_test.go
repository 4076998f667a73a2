package gormplugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The statements of docs/gorm.md make the key of a table the rowid, and keep its rows and those
// that refer to them.
func TestSQLiteConvert(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "gorm.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(doc), "### Convert an existing table\n")
	_, script, _ = strings.Cut(script, "```sql\n")
	script, _, _ = strings.Cut(script, "```")
	file := "file:" + filepath.Join(t.TempDir(), "convert.sqlite") + "?_pragma=foreign_keys(1)"
	db := databases.Handle(t, databases.Database{Name: "sqlite", Open: func(*testing.T) gorm.Dialector { return sqlite.Open(file) }})
	err = db.Connection(func(one *gorm.DB) error {
		return one.Exec("CREATE TABLE customers (id bigint PRIMARY KEY);" +
			"CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint REFERENCES customers (id), parent_id bigint REFERENCES orders (id), note text);" +
			"CREATE TABLE lines (order_id bigint REFERENCES orders (id) ON DELETE CASCADE);" +
			"INSERT INTO customers VALUES (1);" +
			"INSERT INTO orders (id, customer_id, note) VALUES (7, 1, 'a'), (8, 1, 'b');" +
			"INSERT INTO lines SELECT id FROM orders;" + script).Error
	})
	if err != nil {
		t.Fatal(err)
	}
	var kept, faults int
	if err := db.Raw("SELECT count(*) FROM lines JOIN orders ON orders.id = order_id JOIN customers ON customers.id = customer_id").Scan(&kept).Error; err != nil || kept != 2 {
		t.Errorf("%d rows, %v", kept, err)
	}
	if err := db.Raw("SELECT count(*) FROM pragma_foreign_key_check").Scan(&faults).Error; err != nil || faults != 0 {
		t.Errorf("%d broken references, %v", faults, err)
	}
	var wrong int
	if err := db.Raw("SELECT count(*) FROM orders WHERE rowid <> id").Scan(&wrong).Error; err != nil || wrong != 0 {
		t.Errorf("%d rows whose key is not the rowid, %v", wrong, err)
	}
	if err := db.Exec("INSERT INTO orders (id, note) VALUES (0, 'x')").Error; err == nil || !strings.Contains(err.Error(), "CHECK constraint failed") {
		t.Errorf("the key 0: %v", err)
	}
}

// checkedNote is refused by the database if its key is 0.
type checkedNote struct {
	ID   sqltype.ID `gorm:"check:id > 0"`
	Text string     `gorm:"size:20"`
}

// With the tag check:id > 0, a handle without the plugin cannot insert a row with the key 0.
func TestCheckRefusesZero(t *testing.T) {
	onFreshDatabase(t, []any{&checkedNote{}}, func(t *testing.T, d databases.Database, db *gorm.DB) {
		if err := databases.Handle(t, d).Create(&checkedNote{Text: "x"}).Error; err == nil || !strings.Contains(strings.ToLower(err.Error()), "constraint") {
			t.Errorf("without the plugin: %v", err)
		}
		if err := db.Create(&checkedNote{Text: "x"}).Error; err != nil {
			t.Errorf("with the plugin: %v", err)
		}
		var rows []checkedNote
		if err := db.Find(&rows).Error; err != nil || len(rows) != 1 || rows[0].ID <= 0 {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}
