package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// uuids makes tables whose key is a UUID, and a generator in SQL. Its ids are not real ones, but
// differ from those of others: they have the worker ID 0 and the time of the year 2079.
func (db *engine) uuids(t testing.TB, n int) {
	t.Helper()
	db.run(t,
		"CREATE SEQUENCE next_id START 9000000000000000000",
		"CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), parent_id uuid REFERENCES orders, note text NOT NULL, created_at timestamptz NOT NULL DEFAULT now())",
		"CREATE TABLE order_lines (id bigserial PRIMARY KEY, order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE)",
		"CREATE TABLE shipments (id bigserial PRIMARY KEY, order_id uuid REFERENCES orders ON DELETE SET NULL)",
		"CREATE INDEX ON orders (parent_id)", "CREATE INDEX ON order_lines (order_id)", "CREATE INDEX ON shipments (order_id, id)",
		fmt.Sprintf("INSERT INTO orders (note, created_at) SELECT 'old', timestamptz '2024-01-01Z' + i * interval '1 second' FROM generate_series(1, %d) i", n),
		"INSERT INTO order_lines (order_id) SELECT id FROM orders",
		"INSERT INTO shipments (order_id) SELECT CASE WHEN random() < 0.5 THEN id END FROM orders",
		"UPDATE orders SET parent_id = id WHERE random() < 0.1")
}

// orders starts programs that write UUIDs, until the flag is set, and later ones that write ids.
func (p *programs) orders(ended *atomic.Bool) {
	for range 2 {
		p.order("uuid", func(tx *sql.Tx) (any, error) {
			var key string
			const query = "INSERT INTO orders (note) VALUES ('uuid') RETURNING id"
			if ended.Load() {
				return nil, errEnded
			}
			return key, p.timed(query, func() error { return tx.QueryRow(query).Scan(&key) })
		}, "id", "INSERT INTO order_lines (order_id) VALUES ($1)", "INSERT INTO shipments (order_id) VALUES ($1)", "UPDATE orders SET parent_id = id WHERE id = $1")
	}
	gen := generator(p.t)
	p.order("id", func(tx *sql.Tx) (any, error) {
		id, err := gen.Next(context.Background())
		if err == nil {
			err = p.exec(tx, "INSERT INTO orders (id_snowkey, note) VALUES ($1, $2)", id, fmt.Sprint(id))
		}
		return id, err
	}, "id_snowkey", "INSERT INTO order_lines (order_id_snowkey) VALUES ($1)", "INSERT INTO shipments (order_id_snowkey) VALUES ($1)")
}

// A UUID becomes a bigint while programs write UUIDs and others write ids. Then back, and forth.
func TestUUID(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	n := rows(t)
	db.uuids(t, n)
	var ended atomic.Bool
	p := db.programs(t)
	p.orders(&ended)
	cfg := db.config(migrate.UUID)
	for _, at := range []string{"columns public.order_lines", "fill public.orders 5", "check public.orders", "validate public.order_lines"} {
		db.killed(t, migrate.UUID, func(line string) bool { return strings.HasPrefix(line, at) })
	}
	stopped := cfg
	for _, name := range []migrate.StepName{migrate.StepIndex, migrate.StepSwap} {
		stopped.StopBefore = name
		if left := db.again(t, stopped).Plan.Left(); len(left) == 0 || left[0].Name != name {
			t.Errorf("before %s, %s is left", name, names(left))
		}
	}
	db.migrate(t, cfg)
	p.more("id")
	db.checkUUIDs(t, n)

	back := cfg
	back.Undo, back.StopBefore = true, migrate.StepRemove
	db.migrate(t, back)
	p.more("id")
	db.migrate(t, cfg)
	p.more("uuid")
	db.checkUUIDs(t, n)

	ended.Store(true) // and with the old programs the columns that they write
	p.more("id")
	db.finish(t, cfg)
	p.more("id")
	db.expect(t, "order_id_snowkey", "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indexrelid = 'order_lines_order_id_idx'::regclass")
	p.check("SELECT CASE WHEN o.note = 'uuid' THEN CAST(o.id AS text) ELSE o.note END FROM orders o JOIN order_lines l ON l.order_id_snowkey = o.id_snowkey JOIN shipments s ON s.order_id_snowkey = o.id_snowkey WHERE o.note <> 'old'")
}

func (db *engine) checkUUIDs(t testing.TB, n int) {
	t.Helper()
	db.expect(t, "0",
		"SELECT count(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id AND o.id_snowkey = l.order_id_snowkey WHERE o.id IS NULL",
		"SELECT count(*) FROM shipments s LEFT JOIN orders o ON o.id = s.order_id AND o.id_snowkey = s.order_id_snowkey WHERE o.id IS NULL AND (s.order_id IS NOT NULL OR s.order_id_snowkey IS NOT NULL)",
		"SELECT count(*) FROM orders WHERE (parent_id IS NULL) <> (parent_id_snowkey IS NULL) OR parent_id_snowkey <> id_snowkey",
		"SELECT count(*) - count(DISTINCT id_snowkey) FROM orders",
		"SELECT count(*) FROM (SELECT id_snowkey < lag(id_snowkey) OVER (ORDER BY created_at) AS bad FROM orders WHERE note = 'old') o WHERE bad")
	db.expect(t, fmt.Sprint(n), "SELECT count(*) FROM orders WHERE note = 'old'")
	for _, bad := range []string{
		"INSERT INTO order_lines (order_id) VALUES (gen_random_uuid())", "INSERT INTO order_lines (order_id_snowkey) VALUES (5)", "INSERT INTO order_lines DEFAULT VALUES",
		"INSERT INTO orders (id, note) SELECT id, 'twice' FROM orders LIMIT 1", "INSERT INTO orders (id_snowkey, note) SELECT id_snowkey, 'twice' FROM orders LIMIT 1",
		"INSERT INTO shipments (order_id) VALUES (gen_random_uuid())", "UPDATE shipments SET order_id_snowkey = 5 WHERE order_id IS NOT NULL",
	} {
		if _, err := db.Exec(bad); err == nil {
			t.Errorf("%s succeeds", bad)
		}
	}
}

// A role that may insert lines, and not read orders, can insert them. In a table of its own it cannot
// use the function that looks for orders.
func TestLookupRights(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.uuids(t, 10)
	cfg := db.config(migrate.UUID)
	cfg.StopBefore = migrate.StepSwap
	db.migrate(t, cfg)
	role := strings.ToLower(t.Name())
	db.run(t, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "GRANT INSERT ON order_lines TO "+role, "GRANT USAGE ON SEQUENCE order_lines_id_seq TO "+role)
	t.Cleanup(func() { _, _ = db.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	const as, back = "SET ROLE ", "; RESET ROLE"
	db.run(t, as+role+"; INSERT INTO order_lines (order_id) VALUES ('"+db.one(t, "SELECT id FROM orders LIMIT 1")+"')"+back)
	db.expect(t, "0", "SELECT count(*) FROM order_lines WHERE order_id_snowkey IS NULL")
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.Exec("SET LOCAL ROLE " + role + "; CREATE TEMP TABLE t (order_id uuid, order_id_snowkey bigint); CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION public.snow_migrate_order_lines()")
	if err == nil || !strings.Contains(err.Error(), "permission denied for function") {
		t.Error(err)
	}
}
