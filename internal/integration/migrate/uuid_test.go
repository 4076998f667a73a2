package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
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

func (db *engine) uuidConfig(t testing.TB) migrate.Config {
	t.Helper()
	cfg, err := db.configOf(migrate.UUID)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// configOf is for a child, too.
func (db *engine) configOf(kind migrate.Kind) (migrate.Config, error) {
	cfg := db.config(kind)
	if kind != migrate.UUID {
		return cfg, nil
	}
	store, err := sqlstore.New(db.DB, sqlstore.Config{AllowDataLoss: true})
	cfg.Generator = "nextval('next_id')"
	cfg.Backfill = backfill.Config{CreatedAt: "created_at", Store: store}
	return cfg, err
}

// writeUUIDs starts writers that know the UUID, and writers that know the id.
func (db *engine) writeUUIDs(t testing.TB) *writers {
	t.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &writers{db: db, t: t, stop: cancel, texts: map[string]bool{}, fresh: make(chan struct{})}
	write := func(n int, column string, f func(tx *sql.Tx) (string, error)) bool {
		var key string
		err := w.transact(ctx, func(tx *sql.Tx) (err error) {
			if key, err = f(tx); err != nil || n%10 != 0 {
				return err
			}
			_, err = w.exec(ctx, tx, "DELETE FROM orders WHERE "+column+" = ?", key)
			return err
		})
		switch {
		case ctx.Err() != nil:
		case err == nil:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.texts[key] = n%10 != 0
			return true
		case strings.Contains(err.Error(), "does not exist"): // the new column
			w.early.Add(1)
		default:
			t.Errorf("a writer: %v", err)
			cancel()
		}
		return false
	}
	pace := func(f func(n int)) {
		ticks := time.NewTicker(2 * time.Millisecond)
		defer ticks.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				f(n)
			}
		}
	}
	for range 2 {
		w.live.Go(func() {
			pace(func(n int) {
				if w.known.Load() {
					return // the old program has ended
				}
				if write(n, "id", func(tx *sql.Tx) (key string, err error) {
					begun := time.Now()
					err = tx.QueryRowContext(ctx, "INSERT INTO orders (note) VALUES ('uuid') RETURNING id").Scan(&key)
					w.took("INSERT INTO orders (note)", begun)
					for _, s := range []string{"INSERT INTO order_lines (order_id) VALUES (?)", "INSERT INTO shipments (order_id) VALUES (?)", "UPDATE orders SET parent_id = id WHERE id = ?"} {
						if err == nil {
							_, err = w.exec(ctx, tx, s, key)
						}
					}
					return key, err
				}) {
					w.old.Add(1)
				}
			})
		})
	}
	w.live.Go(func() {
		select {
		case <-w.fresh:
		case <-ctx.Done():
		}
		pace(func(n int) {
			if write(n, "id_snowkey", func(tx *sql.Tx) (string, error) {
				id, err := gen.Next(ctx)
				if err != nil {
					return "", err
				}
				if _, err = w.exec(ctx, tx, "INSERT INTO orders (id_snowkey, note) VALUES (?, ?)", id, fmt.Sprint(id)); err != nil {
					return "", err
				}
				for _, s := range []string{"INSERT INTO order_lines (order_id_snowkey) VALUES (?)", "INSERT INTO shipments (order_id_snowkey) VALUES (?)"} {
					if err == nil {
						_, err = w.exec(ctx, tx, s, id)
					}
				}
				return fmt.Sprint(id), err
			}) {
				w.newer.Add(1)
			}
		})
	})
	t.Cleanup(func() { cancel(); w.live.Wait() })
	return w
}

// A UUID becomes a bigint while programs write UUIDs and others write ids. Then back, and forth.
func TestUUID(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	n := rows(t)
	db.uuids(t, n)
	w := db.writeUUIDs(t)
	cfg := db.uuidConfig(t)
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
	close(w.fresh)
	db.migrate(t, cfg)
	at := w.newer.Load()
	w.wait(func() bool { return w.newer.Load() > at+20 })
	db.checkUUIDs(t, n)

	back := cfg
	back.Undo = true
	back.StopBefore = migrate.StepRemove
	db.migrate(t, back)
	at = w.newer.Load()
	w.wait(func() bool { return w.newer.Load() > at+20 })
	db.migrate(t, cfg)
	at = w.old.Load()
	w.wait(func() bool { return w.old.Load() > at+20 })
	db.checkUUIDs(t, n)

	w.known.Store(true) // old programs end, and the columns that they write
	cfg.Finish = true
	w.wait(func() bool {
		before := w.newer.Load()
		w.wait(func() bool { return w.newer.Load() > before+5 })
		return true
	})
	if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
	at = w.newer.Load()
	w.wait(func() bool { return w.newer.Load() > at+20 })
	db.expect(t, "order_id_snowkey", "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indexrelid = 'order_lines_order_id_idx'::regclass")
	w.stop()
	w.live.Wait()
	rows, err := db.Query("SELECT CASE WHEN o.note = 'uuid' THEN CAST(o.id AS text) ELSE o.note END FROM orders o JOIN order_lines l ON l.order_id_snowkey = o.id_snowkey JOIN shipments s ON s.order_id_snowkey = o.id_snowkey WHERE o.note <> 'old'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	there := map[string]int{}
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			t.Fatal(err)
		}
		there[key]++
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	wrong := 0
	for key, kept := range w.texts {
		if want := map[bool]int{true: 1, false: 0}[kept]; there[key] != want {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d orders of the writers are lost, twice or not deleted", wrong, len(w.texts))
	}
	w.report()
	if stated := 2300 * time.Millisecond; time.Duration(w.longest.Load()) > stated {
		t.Errorf("a writer waited for %v, and the plan states %v", time.Duration(w.longest.Load()), stated)
	}
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

// A serial key gets its numbers from a generator, and back.
func TestDefault(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE SEQUENCE next_id START 9000000000000000000", "CREATE SEQUENCE low", "CREATE TABLE orders (id bigserial PRIMARY KEY, note text NOT NULL)",
		"CREATE TABLE order_lines (order_id bigint REFERENCES orders)", "INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, 1000)")
	cfg := db.config(migrate.Default)
	cfg.Generator = "nextval('low') + 0"
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "not above all keys") {
		t.Errorf("a low generator: %v", err)
	}
	db.expect(t, "1001", "INSERT INTO orders (note) VALUES ('old') RETURNING id")
	cfg.Generator = "nextval('next_id') + 0"
	for range 2 {
		db.migrate(t, cfg)
		if id := db.one(t, "INSERT INTO orders (note) VALUES ('old') RETURNING id"); len(id) != 19 {
			t.Errorf("the id %s", id)
		}
		cfg.Undo = true
		db.migrate(t, cfg)
		cfg.Undo = false
		if id := db.one(t, "INSERT INTO orders (note) VALUES ('old') RETURNING id"); len(id) != 4 {
			t.Errorf("the id %s after the way back", id)
		}
	}
	cfg.Finish = true
	if left := db.migrate(t, cfg).Plan.Left(); len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
	db.expect(t, "0", "SELECT count(*) FROM pg_class WHERE relname = 'orders_id_seq'")
}

// A role that may insert lines, and not read orders, can insert them. In a table of its own it cannot
// use the function that looks for orders.
func TestLookupRights(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.uuids(t, 10)
	cfg := db.uuidConfig(t)
	cfg.StopBefore = migrate.StepSwap
	db.migrate(t, cfg)
	role := strings.ToLower(t.Name())
	db.run(t, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "GRANT INSERT ON order_lines TO "+role, "GRANT USAGE ON SEQUENCE order_lines_id_seq TO "+role)
	t.Cleanup(func() { _, _ = db.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	const as, back = "SET ROLE ", "; RESET ROLE"
	db.run(t, as+role+"; INSERT INTO order_lines (order_id) VALUES ('"+db.one(t, "SELECT id FROM orders LIMIT 1")+"')"+back)
	db.expect(t, "0", "SELECT count(*) FROM order_lines WHERE order_id_snowkey IS NULL")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.Exec("SET LOCAL ROLE " + role + "; CREATE TEMP TABLE t (order_id uuid, order_id_snowkey bigint); CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION public.snow_migrate_order_lines()")
	if err == nil || !strings.Contains(err.Error(), "permission denied for function") {
		t.Error(err)
	}
}
