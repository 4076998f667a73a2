package migrate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// generator makes the generator in SQL snowkey_next('orders').
func (db *engine) generator(t testing.TB) {
	t.Helper()
	script, err := ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders"}.Create()
	must(t, err)
	db.Run(t, script...)
}

// The statements of the page make a generator the default of a key from a sequence or an identity column,
// while programs insert rows without a key. They fail if its ids are not above all keys.
func TestDocumentedDefault(t *testing.T) {
	t.Parallel()
	block := engines.Documented(t, "migrate.md", "## From a sequence to ids", 1)[0]
	for _, typ := range []string{"bigserial", "bigint GENERATED ALWAYS AS IDENTITY"} {
		db := openNext(t)
		db.Run(t, "CREATE TABLE orders (id "+typ+" PRIMARY KEY, note text)", "INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, 1000)")
		db.generator(t)
		p := db.programs(t)
		p.insert(2, "sequence", "default", "INSERT INTO orders (note) VALUES ('program') RETURNING id")
		p.more("sequence")
		for { // while the table is locked by a program
			_, err := db.Exec(block)
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "lock timeout") {
				t.Fatal(err)
			}
		}
		p.more("default")
		p.end()
		db.Expect(t, fmt.Sprint(1000+p.count("sequence")+p.count("default")), "SELECT count(*) FROM orders", "SELECT count(DISTINCT id) FROM orders")
		db.Run(t, "INSERT INTO orders (id) OVERRIDING SYSTEM VALUE VALUES (9223372036854775807)")
		if _, err := db.Exec(block); err == nil || !strings.Contains(err.Error(), "not greater than all keys") {
			t.Errorf("%v", err)
		}
	}
}

// The statements of the page move from UUIDs to ids, while programs insert rows with UUIDs.
func TestDocumentedUUID(t *testing.T) {
	blocks := engines.Documented(t, "migrate.md", "## From UUIDs", 3)
	db := openPostgres(t)
	db.Run(t,
		"CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at timestamptz NOT NULL DEFAULT now())",
		"CREATE TABLE order_lines (id bigserial PRIMARY KEY, order_id uuid NOT NULL REFERENCES orders)", "CREATE INDEX ON order_lines (order_id)", "CREATE INDEX ON orders (created_at)",
		"INSERT INTO orders (created_at) SELECT timestamptz '2024-01-01Z' + i * interval '1 second' FROM generate_series(1, 1000) i", "INSERT INTO order_lines (order_id) SELECT id FROM orders")
	db.generator(t)
	store, err := sqlstore.New(db.DB, sqlstore.Config{})
	must(t, err)
	fill := func() {
		t.Helper()
		_, err := backfill.Run(context.Background(), db.DB, backfill.Config{Dialect: ddl.Postgres, Table: "orders", CreatedAt: "created_at", Store: store, Namespace: "orders"})
		must(t, err)
	}
	fill()
	db.Run(t, "ALTER TABLE orders ALTER id_snowkey SET DEFAULT snowkey_next('orders')")
	db.Run(t, "WITH o AS (INSERT INTO orders DEFAULT VALUES RETURNING id) INSERT INTO order_lines (order_id) SELECT id FROM o") // an old program
	fill()
	db.Run(t, "WITH o AS (INSERT INTO orders DEFAULT VALUES RETURNING id, id_snowkey) INSERT INTO order_lines (order_id, order_id_snowkey) SELECT id, id_snowkey FROM o")
	db.Run(t, strings.Split(strings.TrimSuffix(blocks[0], ";"), ";\n")...)
	wrong := func() string { return db.One(t, "SELECT count(*) FROM ("+strings.TrimSuffix(blocks[1], ";")+") w") }
	if n := wrong(); n != "0" {
		t.Errorf("%s wrong references", n)
	}
	for _, change := range []string{"order_id_snowkey = NULL", "order_id_snowkey = (SELECT max(id_snowkey) FROM orders)"} {
		db.Run(t, "UPDATE order_lines SET "+change+" WHERE id = 5")
		if n := wrong(); n != "1" {
			t.Errorf("%s: %s wrong references are found", change, n)
		}
		db.Run(t, "UPDATE order_lines SET order_id_snowkey = (SELECT id_snowkey FROM orders o WHERE o.id = order_id) WHERE id = 5")
	}
	db.Run(t, blocks[2])
	db.Run(t, "INSERT INTO order_lines (order_id_snowkey) SELECT max(id_snowkey) FROM orders")
	db.Expect(t, "PRIMARY KEY (id_snowkey)", "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conrelid = 'orders'::regclass")
	for _, bad := range []string{"INSERT INTO order_lines (order_id_snowkey) VALUES (5)", "INSERT INTO orders (id) SELECT id FROM orders LIMIT 1"} {
		if _, err := db.Exec(bad); err == nil {
			t.Errorf("%s succeeds", bad)
		}
	}
}
