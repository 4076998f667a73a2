package backfill

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
)

// The statements of docs/backfill.md swap the columns.
func TestSwap(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "backfill.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```sql\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	test := func(block string) func(t *testing.T, db *engine) {
		return func(t *testing.T, db *engine) {
			db.run(t, "CREATE TABLE orders (id {key}, created_at {time})",
				"CREATE TABLE order_lines (id {key}, order_id bigint NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))",
				"INSERT INTO orders (created_at) VALUES ("+db.at("2024-01-01 00:00:00")+"), ("+db.at("2025-01-01 00:00:00")+")",
				"INSERT INTO order_lines (order_id) VALUES (2), (2), (1)")
			if _, err := backfill.Run(t.Context(), db.DB, db.config(t)); err != nil {
				t.Fatal(err)
			}
			db.SetMaxOpenConns(1) // for BEGIN
			for statement := range strings.SplitSeq(block, ";") {
				if strings.TrimSpace(statement) != "" {
					if _, err := db.Exec(statement); err != nil {
						t.Fatalf("%s: %v", statement, err)
					}
				}
			}
			if got := db.one(t, "SELECT count(*) FROM orders o JOIN order_lines l ON l.order_id = o.id AND l.order_id_old = o.id_old WHERE o.id > 1000"); got != "3" {
				t.Errorf("%s lines", got)
			}
			db.run(t, "INSERT INTO orders (id) VALUES (5)", "INSERT INTO order_lines (id, order_id) VALUES (5, 5)")
			if err := inTx(db, "INSERT INTO order_lines (id, order_id) VALUES (6, 6)"); err == nil {
				t.Error("there is no foreign key")
			}
			if err := inTx(db, "INSERT INTO orders (id) VALUES (5)"); err == nil {
				t.Error("there is no primary key")
			}
			if err := inTx(db, "INSERT INTO orders (created_at) VALUES ("+db.at("2026-01-01 00:00:00")+")"); err == nil {
				t.Error("a row without an id was written")
			}
		}
	}
	t.Run("postgres", func(t *testing.T) { test(blocks[0][1])(t, openPostgres(t)) })
	t.Run("mysql", func(t *testing.T) { onMySQL(t, false, test(blocks[1][1])) })
}
