package migrate

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

const childDSN = "SNOWKEY_TEST_MIGRATE_DSN"

// child runs a migration and says where it is, until it is killed.
func child() int {
	db, err := sql.Open("pgx", os.Getenv(childDSN))
	if err == nil {
		defer db.Close()
		cfg := (*engine)(nil).config()
		cfg.BatchSize = 500
		cfg.Progress = func(s migrate.Step, done, _ int64) { fmt.Println(s.Name, s.Table, done) }
		_, err = migrate.Run(context.Background(), db, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killed runs a migration in another process, and kills it when it is at a place.
func (db *engine) killed(t testing.TB, at func(line string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience*time.Duration(1+rows(t)/100_000))
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childDSN+"="+db.DSN)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	found := false
	for !found && lines.Scan() {
		found = at(lines.Text())
	}
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || !found {
		t.Fatalf("the process ended before it was killed: %v", err)
	}
}

// A key becomes a bigint while programs write. The process is killed in each kind of step.
func TestBigint(t *testing.T) {
	db := openPostgres(t)
	db.shop(t, rows(t))
	p := db.programs(t)
	p.shop()
	batches := 0
	for _, at := range []string{"columns public.order_lines", "fill public.orders", "fill public.order_lines", "index public.orders", "foreign-key public.shipments", "swap"} {
		db.killed(t, func(line string) bool {
			if strings.HasPrefix(line, "fill") && !strings.HasSuffix(line, " 0") {
				batches++
			}
			return strings.HasPrefix(line, at) && (!strings.HasPrefix(at, "fill") || !strings.HasSuffix(line, " 0"))
		})
	}
	cfg := db.config()
	result := db.migrate(t, cfg)
	p.more("old", "new")
	if left := names(result.Plan.Left()); strings.Contains(left, "swap") || !strings.Contains(left, "finish") || batches == 0 {
		t.Errorf("%d batches, left: %s", batches, left)
	}
	db.finish(t, cfg)
	p.check("SELECT id FROM orders", "SELECT order_id FROM order_lines", "SELECT order_id FROM shipments", "SELECT shipment_id FROM parcels")
	db.checkShop(t)
}

// checkShop checks that nothing dangles, and that the schema is what it was, but for the types.
func (db *engine) checkShop(t testing.TB) {
	t.Helper()
	db.Expect(t, "0",
		"SELECT count(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id WHERE o.id IS NULL",
		"SELECT count(*) FROM shipments s LEFT JOIN orders o ON o.id = s.order_id WHERE o.id IS NULL",
		"SELECT count(*) FROM parcels p LEFT JOIN shipments s ON s.order_id = p.shipment_id WHERE s.order_id IS NULL AND p.shipment_id IS NOT NULL",
		"SELECT count(*) FROM orders o LEFT JOIN orders p ON o.parent_id = p.id WHERE o.parent_id IS NOT NULL AND p.id IS NULL",
		"SELECT count(*) FROM orders WHERE note = 'changed' AND (parent_id IS NULL OR parent_id <> id)",
		"SELECT count(*) - count(DISTINCT id) FROM orders")
	for _, bad := range []string{
		"INSERT INTO order_lines (order_id, line) VALUES (-5, 1)", "INSERT INTO shipments (order_id) VALUES (-5)", "INSERT INTO parcels (shipment_id) VALUES (-5)",
		"INSERT INTO orders (id, note) SELECT max(id), 'twice' FROM orders", "INSERT INTO orders (id, note, parent_id) VALUES (-4, 'x', -5)",
	} {
		if _, err := db.Exec(bad); err == nil {
			t.Errorf("%s succeeds", bad)
		}
	}
}

// shop makes tables that refer to orders: by a foreign key with an action, by a key of two columns,
// by a key that others refer to, by a wider column, and to itself.
func (db *engine) shop(t testing.TB, n int) {
	t.Helper()
	db.Run(t,
		"CREATE TABLE orders (id serial PRIMARY KEY, parent_id int, note text NOT NULL, CONSTRAINT orders_parent FOREIGN KEY (parent_id) REFERENCES orders (id))",
		"CREATE TABLE order_lines (order_id int NOT NULL, line int NOT NULL, amount int NOT NULL DEFAULT 1, PRIMARY KEY (order_id, line), CONSTRAINT order_lines_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
		"CREATE TABLE shipments (order_id int PRIMARY KEY, place int, CONSTRAINT shipments_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
		"CREATE TABLE parcels (id serial PRIMARY KEY, shipment_id int, CONSTRAINT parcels_shipment FOREIGN KEY (shipment_id) REFERENCES shipments (order_id) ON DELETE CASCADE)",
		"CREATE INDEX orders_parent_id ON orders (parent_id)",
		"CREATE INDEX parcels_shipment_id ON parcels (shipment_id DESC)",
		"CREATE TABLE order_notes (id serial PRIMARY KEY, order_id bigint REFERENCES orders ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED)",
		"CREATE INDEX order_lines_big ON order_lines (order_id, (lower(amount::text))) INCLUDE (line) WHERE amount > 1",
		"COMMENT ON COLUMN orders.id IS 'It''s the key'",
		fmt.Sprintf("INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, %d)", n),
		"INSERT INTO order_notes (order_id) SELECT id FROM orders WHERE id % 100 = 0",
		"INSERT INTO order_lines (order_id, line, amount) SELECT id, 1, id % 3 FROM orders",
		"INSERT INTO shipments (order_id) SELECT id FROM orders WHERE id % 2 = 0",
		"INSERT INTO parcels (shipment_id) SELECT order_id FROM shipments WHERE order_id % 4 = 0",
		"UPDATE orders SET parent_id = id - 1 WHERE id % 10 = 3 AND id - 1 IN (SELECT order_id FROM shipments)")
}
