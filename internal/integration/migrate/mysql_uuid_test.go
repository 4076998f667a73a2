package migrate

import (
	"context"
	"crypto/rand"
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

// mysqlConfig is for a child, too. MySQL has no generator.
func (db *engine) mysqlConfig(cfg migrate.Config) (migrate.Config, error) {
	maria, err := db.isMariaDB()
	if err != nil || cfg.Kind == migrate.Bigint {
		return cfg, err
	}
	if maria || cfg.Kind == migrate.UUID {
		cfg.Generator = "snowkey_next('orders')"
	}
	if cfg.Kind == migrate.UUID {
		var store *sqlstore.Store
		store, err = sqlstore.New(db.DB, sqlstore.Config{AllowDataLoss: true})
		cfg.Backfill = backfill.Config{CreatedAt: "created_at", Store: store, Namespace: "orders"}
	}
	return cfg, err
}

// mysqlUUID is a new UUID of version 4.
func mysqlUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// mysqlShop makes tables whose key is a UUID of a type.
func (db *engine) mysqlShop(t testing.TB, typ string, n int) {
	t.Helper()
	fresh, cascade := "UUID()", " ON DELETE CASCADE"
	if maria, err := db.isMariaDB(); err != nil {
		t.Fatal(err)
	} else if !maria {
		cascade = ""
	}
	if strings.Contains(typ, "binary") {
		fresh = "UNHEX(REPLACE(UUID(), '-', ''))"
	}
	db.run(t,
		fmt.Sprintf("CREATE TABLE orders (id %s PRIMARY KEY DEFAULT (%s), parent_id %[1]s, note varchar(100) NOT NULL, created_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), CONSTRAINT orders_parent FOREIGN KEY (parent_id) REFERENCES orders (id))", typ, fresh),
		fmt.Sprintf("CREATE TABLE order_lines (id bigint AUTO_INCREMENT PRIMARY KEY, order_id %s NOT NULL, CONSTRAINT lines_order FOREIGN KEY (order_id) REFERENCES orders (id)%s)", typ, cascade),
		fmt.Sprintf("CREATE TABLE shipments (id bigint AUTO_INCREMENT PRIMARY KEY, order_id %s, place int, KEY shipments_order (order_id, place), CONSTRAINT shipments_order FOREIGN KEY (order_id) REFERENCES orders (id))", typ),
		"INSERT INTO orders (note, created_at) VALUES ('old', '2024-01-01')")
	for made := 1; made < n; made *= 2 {
		db.run(t, fmt.Sprintf("INSERT INTO orders (note, created_at) SELECT note, created_at + INTERVAL %d SECOND FROM orders ORDER BY created_at LIMIT %d", made, min(made, n-made)))
	}
	db.run(t, "INSERT INTO order_lines (order_id) SELECT id FROM orders", "INSERT INTO shipments (order_id) SELECT CASE WHEN RAND() < 0.5 THEN id END FROM orders",
		"UPDATE orders SET parent_id = id WHERE RAND() < 0.1")
}

// writeMySQLUUIDs starts writers that know the UUID, and writers that know the id.
func (db *engine) writeMySQLUUIDs(t testing.TB) *writers {
	t.Helper()
	maria, err := db.isMariaDB()
	if err != nil {
		t.Fatal(err)
	}
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &writers{db: db, t: t, stop: cancel, texts: map[string]bool{}, fresh: make(chan struct{})}
	loop := func(count interface{ Add(int64) int64 }, ends func() bool, column string, insert func(tx *sql.Tx, key string, note string) error, key func() (string, error)) {
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		for n := 1; !ends(); n++ {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			key, err := key()
			if err != nil {
				return
			}
			note := key
			kept := n%10 != 0
			err = w.transact(ctx, func(tx *sql.Tx) error {
				if err := insert(tx, key, note); err != nil || kept {
					return err
				}
				if !maria { // which cascades
					if _, err := w.exec(ctx, tx, "DELETE FROM order_lines WHERE order_"+column+" = ?", key); err != nil {
						return err
					}
				}
				for _, s := range []string{"DELETE FROM shipments WHERE order_" + column + " = ?", "UPDATE orders SET parent_" + column + " = NULL WHERE " + column + " = ?", "DELETE FROM orders WHERE " + column + " = ?"} {
					if _, err := w.exec(ctx, tx, s, key); err != nil {
						return err
					}
				}
				return nil
			})
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				w.mu.Lock()
				w.texts[note] = kept
				w.mu.Unlock()
				count.Add(1)
			case strings.Contains(err.Error(), "Error 1054"): // the new column is not there yet
				w.early.Add(1)
			default:
				t.Errorf("a writer: %v", err)
				return
			}
		}
	}
	all := func(tx *sql.Tx, key string, statements ...string) error {
		for _, s := range statements {
			if _, err := w.exec(ctx, tx, s, key); err != nil {
				return err
			}
		}
		return nil
	}
	for range 2 {
		w.olds.Add(1)
		w.live.Go(func() {
			defer w.olds.Done()
			loop(&w.old, w.known.Load, "id", func(tx *sql.Tx, key, note string) error {
				if _, err := w.exec(ctx, tx, "INSERT INTO orders (id, note) VALUES (?, ?)", key, note); err != nil {
					return err
				}
				return all(tx, key, "INSERT INTO order_lines (order_id) VALUES (?)", "INSERT INTO shipments (order_id) VALUES (?)", "UPDATE orders SET parent_id = id WHERE id = ?")
			}, func() (string, error) { return mysqlUUID(), nil })
		})
	}
	w.live.Go(func() {
		select {
		case <-w.fresh:
		case <-ctx.Done():
		}
		loop(&w.newer, func() bool { return false }, "id_snowkey", func(tx *sql.Tx, key, note string) error {
			if _, err := w.exec(ctx, tx, "INSERT INTO orders (id_snowkey, note) VALUES (?, ?)", key, note); err != nil {
				return err
			}
			return all(tx, key, "INSERT INTO order_lines (order_id_snowkey) VALUES (?)", "INSERT INTO shipments (order_id_snowkey) VALUES (?)", "UPDATE orders SET parent_id_snowkey = id_snowkey WHERE id_snowkey = ?")
		}, func() (string, error) {
			id, err := gen.Next(ctx)
			return fmt.Sprint(id), err
		})
	})
	t.Cleanup(func() { cancel(); w.live.Wait() })
	return w
}

// A UUID becomes a bigint while programs write UUIDs and others write ids. Then back, and forth.
func TestUUIDMariaDB(t *testing.T) {
	t.Parallel()
	onMariaDB(t, func(t *testing.T, db *engine) {
		n := rows(t)
		db.mysqlShop(t, "char(36)", n)
		cfg, err := db.configOf(migrate.UUID)
		if err != nil {
			t.Fatal(err)
		}
		db.generator(t)
		w := db.writeMySQLUUIDs(t)
		some := func(of interface{ Load() int64 }) {
			t.Helper()
			at := of.Load()
			w.wait(func() bool { return of.Load() > at+20 })
		}
		some(&w.old)
		schema := db.one(t, "SELECT DATABASE()") + "."
		places := []string{"columns S.order_lines", "index S.orders", "default S.orders", "fill S.orders 5", "index S.shipments", "foreign-key S.order_lines", "swap S.orders"}
		begin := "fill S.orders 5"
		if n > 100_000 { // without indexes, the new writers lock all rows of a table, as docs/migrate.md says
			begin = "foreign-key S.order_lines"
		}
		for _, place := range places {
			at := strings.Replace(place, "S.", schema, 1)
			db.killed(t, migrate.UUID, func(line string) bool { return strings.HasPrefix(line, at) })
			if place == begin {
				close(w.fresh)
			}
		}
		db.again(t, cfg)
		some(&w.newer)
		db.checkMySQLUUIDs(t, n)

		back := cfg
		back.Undo, back.StopBefore = true, migrate.StepRemove
		db.migrate(t, back)
		some(&w.newer)
		db.migrate(t, cfg)
		some(&w.newer)
		db.checkMySQLUUIDs(t, n)
		some(&w.old)
		w.known.Store(true) // old programs end, and the columns that they write
		w.olds.Wait()
		finish := cfg
		finish.Finish = true
		db.killed(t, migrate.UUID+finishing, func(line string) bool { return strings.HasPrefix(line, "finish ") })
		if left := db.again(t, finish).Plan.Steps; len(left) != 0 {
			t.Errorf("left: %s", names(left))
		}
		some(&w.newer)
		w.stop()
		w.live.Wait()
		db.expect(t, "0",
			"SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND column_name IN ('order_id', 'parent_id')",
			"SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'order_lines' AND column_name = 'order_id_snowkey' AND is_nullable = 'YES'",
			"SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE() AND trigger_name LIKE 'snow\\_uuid\\_%'")
		rows, err := db.Query("SELECT o.note FROM orders o JOIN order_lines l ON l.order_id_snowkey = o.id_snowkey JOIN shipments s ON s.order_id_snowkey = o.id_snowkey WHERE o.note <> 'old' AND o.parent_id_snowkey = o.id_snowkey")
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
	})
}

func (db *engine) checkMySQLUUIDs(t testing.TB, n int) {
	t.Helper()
	db.expect(t, "0",
		"SELECT COUNT(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id AND o.id_snowkey = l.order_id_snowkey WHERE o.id IS NULL",
		"SELECT COUNT(*) FROM shipments s LEFT JOIN orders o ON o.id = s.order_id AND o.id_snowkey = s.order_id_snowkey WHERE o.id IS NULL AND (s.order_id IS NOT NULL OR s.order_id_snowkey IS NOT NULL)",
		"SELECT COUNT(*) FROM orders WHERE (parent_id IS NULL) <> (parent_id_snowkey IS NULL) OR parent_id_snowkey <> id_snowkey",
		"SELECT COUNT(*) - COUNT(DISTINCT id_snowkey) FROM orders",
		"SELECT COUNT(*) FROM (SELECT id_snowkey < LAG(id_snowkey) OVER (ORDER BY created_at) AS bad FROM orders WHERE note = 'old') o WHERE bad")
	db.expect(t, fmt.Sprint(n), "SELECT COUNT(*) FROM orders WHERE note = 'old'")
	for _, bad := range []string{
		"INSERT INTO order_lines (order_id) VALUES ('none')", "INSERT INTO order_lines (order_id_snowkey) VALUES (5)", "INSERT INTO order_lines () VALUES ()",
		"INSERT INTO orders (id, note, id_snowkey) SELECT id, 'twice', 5 FROM orders LIMIT 1", "INSERT INTO orders (id_snowkey, note) SELECT id_snowkey, 'twice' FROM orders LIMIT 1",
		"INSERT INTO shipments (order_id) VALUES ('none')", "INSERT INTO shipments (order_id_snowkey) VALUES (5)", "UPDATE shipments SET order_id_snowkey = 5 WHERE order_id IS NOT NULL LIMIT 1",
		"UPDATE order_lines SET order_id = 'none' LIMIT 1",
	} {
		if _, err := db.Exec(bad); err == nil {
			t.Errorf("%s succeeds", bad)
		}
	}
}

// Each type of a UUID, and the way back from each step: the schema is what it was.
func TestUUIDTypesMariaDB(t *testing.T) {
	t.Parallel()
	onMariaDB(t, func(t *testing.T, db *engine) {
		types := []string{"varchar(40)", "binary(16)", "uuid"}
		db.generator(t)
		for _, typ := range types {
			t.Run(typ, func(t *testing.T) {
				db.run(t, "DROP TABLE IF EXISTS shipments, order_lines, orders")
				db.mysqlShop(t, typ, 300)
				schema := func() string {
					return db.create(t, "orders") + db.create(t, "order_lines") + db.create(t, "shipments") +
						db.one(t, "SELECT GROUP_CONCAT(trigger_name) FROM information_schema.triggers WHERE trigger_schema = DATABASE()")
				}
				before := schema()
				cfg, err := db.configOf(migrate.UUID)
				if err != nil {
					t.Fatal(err)
				}
				steps := []migrate.StepName{migrate.StepIndex, migrate.StepFill, migrate.StepForeignKey, migrate.StepSwap, migrate.StepFinish}
				if typ != types[0] {
					steps = steps[3:]
				}
				for _, at := range steps {
					there := cfg
					there.StopBefore = at
					left := db.migrate(t, there).Plan.Left()
					if len(left) == 0 || left[0].Name != at {
						t.Errorf("left before %s: %s", at, names(left))
					}
					back := cfg
					back.Undo = true
					if left := db.migrate(t, back).Plan.Steps; len(left) != 0 {
						t.Errorf("left of the way back: %s", names(left))
					}
					if now := schema(); now != before {
						t.Errorf("after %s the schema is\n%s\nand was\n%s", at, now, before)
					}
					db.run(t, "DELETE FROM orders WHERE note = 'new'")
				}
				db.migrate(t, cfg)
				db.run(t, "INSERT INTO orders (id_snowkey, note) VALUES (78, 'last')", "INSERT INTO order_lines (order_id_snowkey) VALUES (78)",
					"INSERT INTO shipments (order_id) SELECT id FROM orders WHERE id_snowkey = 78", "UPDATE shipments SET order_id = NULL ORDER BY id LIMIT 1")
				db.expect(t, "1", "SELECT COUNT(*) FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN shipments s ON s.order_id_snowkey = o.id_snowkey WHERE o.note = 'last'")
				db.expect(t, "0", "SELECT COUNT(*) FROM shipments WHERE (order_id IS NULL) <> (order_id_snowkey IS NULL)")
				db.run(t, "INSERT INTO orders (note) SELECT 'many' FROM seq_1_to_100")
				db.expect(t, "100", fmt.Sprintf("SELECT COUNT(*) FROM orders WHERE note = 'many' AND id_snowkey > %d", int64(least)))
				cfg.Finish = true
				if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
					t.Errorf("left: %s", names(left))
				}
			})
		}
	})
}

// mysqlUUIDs are tables that the kind uuid refuses.
func (db *engine) mysqlUUIDs(t testing.TB) []refusal {
	t.Helper()
	const orders = "CREATE TABLE orders (id char(36) PRIMARY KEY, created_at datetime);\n"
	return []refusal{
		{"a date", "CREATE TABLE orders (id date PRIMARY KEY)", "has the type date: must be a UUID"},
		{"two columns", "CREATE TABLE orders (id char(36), n int, PRIMARY KEY (id, n))", "primary key of 2 columns"},
		{"MyISAM", "CREATE TABLE orders (id char(36) PRIMARY KEY) ENGINE=MyISAM", "must be InnoDB"},
		{"a trigger", orders + "CREATE TRIGGER g BEFORE INSERT ON orders FOR EACH ROW SET NEW.created_at = NOW()", "has the trigger g"},
		{"SET NULL", orders + "CREATE TABLE order_lines (o char(36), FOREIGN KEY (o) REFERENCES orders (id) ON DELETE SET NULL)", "fires no trigger"},
		{"ON UPDATE", orders + "CREATE TABLE order_lines (o char(36), FOREIGN KEY (o) REFERENCES orders (id) ON UPDATE CASCADE)", "fires no trigger"},
		{"a primary key", orders + "CREATE TABLE order_lines (o char(36) PRIMARY KEY, FOREIGN KEY (o) REFERENCES orders (id))", "in the primary key"},
		{"a unique index", orders + "CREATE TABLE order_lines (o char(36) UNIQUE, FOREIGN KEY (o) REFERENCES orders (id))", "unique index o"},
		{"a column of that name", "CREATE TABLE orders (id char(36) PRIMARY KEY, id_snowkey text)", "not of this migration"},
	}
}

// A column that was there before is neither filled nor dropped.
func TestForeignColumnMariaDB(t *testing.T) {
	t.Parallel()
	onMariaDB(t, func(t *testing.T, db *engine) {
		db.run(t, "CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT UUID(), created_at datetime(6) NOT NULL DEFAULT NOW(6), id_snowkey bigint)", "INSERT INTO orders (id_snowkey) VALUES (7)")
		for _, undo := range []bool{false, true} {
			cfg, err := db.configOf(migrate.UUID)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Undo = undo
			if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "not of this migration") {
				t.Errorf("undo %v: %v", undo, err)
			}
		}
		db.expect(t, "7", "SELECT id_snowkey FROM orders")
	})
}
