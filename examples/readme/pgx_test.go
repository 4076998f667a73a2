package readme

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func TestLoadInvoices(t *testing.T) {
	pool, err := connect(t.Context(), testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), `CREATE TABLE invoices (id bigint PRIMARY KEY, note text);
		CREATE TABLE items (id bigint PRIMARY KEY, invoice_id bigint REFERENCES invoices, article text)`); err != nil {
		t.Fatal(err)
	}
	if err := loadInvoices(t.Context(), pool, []Invoice{{ID: 1, Note: "tea", Items: []Item{{2, 1, "TEA-1"}, {3, 1, "TEA-2"}}}}); err != nil {
		t.Fatal(err)
	}
	if err := retryInvoices(t.Context(), pool, []Invoice{{ID: 4, Note: "more tea"}}); err != nil {
		t.Fatal(err)
	}
	var invoices, items int
	if err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM invoices), (SELECT count(*) FROM items)`).Scan(&invoices, &items); err != nil || invoices != 2 || items != 2 {
		t.Errorf("%d invoices, %d items, %v", invoices, items, err)
	}
}
