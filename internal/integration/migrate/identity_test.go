package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/core"
)

// identities makes a table with an identity column that another role owns.
func (db *engine) identities(t testing.TB, typ, kind string) {
	t.Helper()
	role := strings.ReplaceAll(strings.ToLower(t.Name()), "/", "_")
	db.run(t, fmt.Sprintf("DO $$ BEGIN CREATE ROLE %q; EXCEPTION WHEN duplicate_object THEN END $$", role),
		fmt.Sprintf("CREATE TABLE orders (id %s GENERATED %s AS IDENTITY (SEQUENCE NAME order_numbers START WITH 100 INCREMENT BY 5 CACHE 3) PRIMARY KEY, note text)", typ, kind),
		fmt.Sprintf("CREATE TABLE order_lines (order_id %s PRIMARY KEY REFERENCES orders)", typ),
		fmt.Sprintf("ALTER TABLE orders OWNER TO %q", role), fmt.Sprintf("ALTER TABLE order_lines OWNER TO %q", role),
		"INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, 1000)", "INSERT INTO order_lines SELECT id FROM orders")
	t.Cleanup(func() {
		_, _ = db.ExecContext(context.Background(), fmt.Sprintf("DROP OWNED BY %q; DROP ROLE %q", role, role)) //nolint:gosec // from the name of the test
	})
}

// identity describes the identity column and its sequence, but for its value.
func (db *engine) identity(t testing.TB) string {
	t.Helper()
	return db.one(t, `SELECT format('%s %s %s of %s: %s', format_type(atttypid, atttypmod), attidentity, pg_get_serial_sequence('orders', 'id'), pg_get_userbyid((SELECT relowner FROM pg_class WHERE oid = pg_get_serial_sequence('orders', 'id')::regclass)),
		(SELECT concat_ws(' ', data_type, start_value, min_value, max_value, increment_by, cycle, cache_size) FROM pg_sequences WHERE sequencename = 'order_numbers'))
		FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'id'`)
}

// numbers insert rows, and ask the sequence itself, in many sessions. No number may come twice.
type numbers struct {
	db    *engine
	t     testing.TB
	mu    sync.Mutex
	seen  map[int64]bool
	again int
	stop  context.CancelFunc
	live  sync.WaitGroup
}

func (db *engine) count(t testing.TB) *numbers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	n := &numbers{db: db, t: t, seen: map[int64]bool{}, stop: cancel}
	for i := range 6 {
		query := "INSERT INTO orders (note) VALUES ('new') RETURNING id"
		if i%2 == 1 {
			query = "SELECT nextval('order_numbers')"
		}
		n.live.Go(func() {
			pace := time.NewTicker(2 * time.Millisecond)
			defer pace.Stop()
			for ctx.Err() == nil {
				<-pace.C
				var id int64
				err := db.QueryRowContext(context.Background(), query).Scan(&id)
				var pg *pgconn.PgError
				n.mu.Lock()
				switch {
				case errors.As(err, &pg) && (strings.Contains(pg.Message, "cached plan must not change result type") || strings.Contains(pg.Message, "could not open relation")):
					n.again++
				case err != nil:
					t.Errorf("%s: %v", query, err)
					cancel()
				case n.seen[id]:
					t.Errorf("%s: %d for the second time", query, id)
				}
				n.seen[id] = id != 0
				n.mu.Unlock()
			}
		})
	}
	t.Cleanup(func() { cancel(); n.live.Wait() })
	return n
}

// more waits for more numbers.
func (n *numbers) more() {
	n.t.Helper()
	have := func() int { n.mu.Lock(); defer n.mu.Unlock(); return len(n.seen) }
	for begun, from := time.Now(), have(); have() < from+100; time.Sleep(time.Millisecond) {
		if n.t.Failed() || time.Since(begun) > patience {
			n.t.Fatal("no more numbers")
		}
	}
}

func (n *numbers) end() {
	n.t.Helper()
	n.stop()
	n.live.Wait()
	n.t.Logf("%d numbers, %d statements tried again", len(n.seen), n.again)
}

// An identity column becomes a bigint that is an identity column, and back, while its sequence counts.
func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ALWAYS", "BY DEFAULT"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := openPostgres(t)
			db.identities(t, "int", kind)
			before := db.identity(t)
			wide := strings.NewReplacer("integer", "bigint", "2147483647", "9223372036854775807").Replace(before)
			n := db.count(t)
			cfg := db.config(migrate.Bigint)
			for range 3 {
				cfg.Undo = false
				n.more()
				db.migrate(t, cfg)
				n.more()
				if got := db.identity(t); got != wide {
					t.Errorf("after the swap: %s, want %s", got, wide)
				}
				_, err := db.Exec("INSERT INTO orders (id) VALUES (-1)")
				if always := kind == "ALWAYS"; always != (err != nil) {
					t.Errorf("an explicit key: %v", err)
				}
				db.run(t, "DELETE FROM orders WHERE id = -1")
				cfg.Undo = true
				db.migrate(t, cfg)
				n.more()
				if got := db.identity(t); got != before {
					t.Errorf("after the way back: %s, want %s", got, before)
				}
			}
			cfg.Undo, cfg.Finish = false, true
			if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
				t.Errorf("left: %s", names(left))
			}
			n.more()
			if got := db.identity(t); got != wide {
				t.Errorf("in the end: %s, want %s", got, wide)
			}
			n.end()
			db.expect(t, "0", "SELECT count(*) - count(DISTINCT id) FROM orders", "SELECT count(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id WHERE o.id IS NULL")
		})
	}
}

// There is no way back for a sequence whose value does not fit, even if no row has it.
func TestIdentityTooFar(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)")
	cfg := db.config(migrate.Bigint)
	db.migrate(t, cfg)
	db.run(t, "SELECT setval('orders_id_seq', 3000000000)")
	cfg.Undo = true
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "the sequence of id has the value 3000000000, which does not fit into integer") {
		t.Errorf("%v", err)
	}
	db.run(t, "SELECT setval('orders_id_seq', 2147483646)")
	db.migrate(t, cfg)
	db.expect(t, "2147483647", "INSERT INTO orders DEFAULT VALUES RETURNING id::text")
	if _, err := db.Exec("INSERT INTO orders DEFAULT VALUES"); err == nil || !strings.Contains(err.Error(), "reached maximum value of sequence") {
		t.Errorf("%v", err)
	}
}

// The options of a sequence that are not those of its type stay.
func TestIdentityOptions(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id smallint GENERATED BY DEFAULT AS IDENTITY (START WITH -5 INCREMENT BY -2 MINVALUE -30000 MAXVALUE 500 CYCLE) PRIMARY KEY)", "INSERT INTO orders DEFAULT VALUES")
	const options = "SELECT concat_ws(' ', start_value, min_value, max_value, increment_by, cycle, cache_size) FROM pg_sequences"
	before := db.one(t, options)
	cfg := db.config(migrate.Bigint)
	db.migrate(t, cfg)
	db.expect(t, before, options)
	db.expect(t, "-7", "INSERT INTO orders DEFAULT VALUES RETURNING id::text")
	cfg.Undo = true
	db.migrate(t, cfg)
	db.expect(t, before, options)
	db.expect(t, "-9", "INSERT INTO orders DEFAULT VALUES RETURNING id::text")
}

// An identity column gets its keys from a generator, and is an identity column again, where it was.
func TestDefaultIdentity(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ALWAYS", "BY DEFAULT"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := openPostgres(t)
			db.identities(t, "bigint", kind)
			db.run(t, "CREATE SEQUENCE next_id START 8000000000000000000 INCREMENT BY 7")
			before := db.identity(t)
			n := db.count(t)
			cfg := db.config(migrate.Default)
			cfg.Generator = "nextval('next_id') + 0"
			for range 3 {
				cfg.Undo = false
				n.more()
				db.migrate(t, cfg)
				n.more()
				db.expect(t, "public.order_numbers ", "SELECT pg_get_serial_sequence('orders', 'id') || ' ' || attidentity::text FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'id'")
				db.run(t, "INSERT INTO orders (id) VALUES (-1)", "DELETE FROM orders WHERE id = -1")
				if result := db.migrate(t, cfg); len(result.Steps) != 0 {
					t.Errorf("again: %s", names(result.Steps))
				}
				cfg.Undo = true
				db.migrate(t, cfg)
				n.more()
				if got := db.identity(t); got != before {
					t.Errorf("after the way back: %s, want %s", got, before)
				}
				db.expect(t, "", "SELECT obj_description('order_numbers'::regclass)")
				if result := db.migrate(t, cfg); len(result.Steps) != 0 {
					t.Errorf("back again: %s", names(result.Steps))
				}
			}
			n.end()
			cfg.Undo, cfg.Finish = false, true
			if left := db.migrate(t, cfg).Plan.Left(); len(left) != 0 {
				t.Errorf("left: %s", names(left))
			}
			db.expect(t, "0", "SELECT count(*) FROM pg_class WHERE relname = 'order_numbers'", "SELECT count(*) - count(DISTINCT id) FROM orders")
			db.run(t, "INSERT INTO orders (note) VALUES ('from the generator')")
		})
	}
}

// A generator whose ids are too low leaves the identity column as it was.
func TestDefaultIdentityRefused(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.identities(t, "bigint", "ALWAYS")
	before := db.identity(t)
	cfg := db.config(migrate.Default)
	cfg.Generator = "1 + 0"
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "not above all keys") {
		t.Errorf("%v", err)
	}
	if got := db.identity(t); got != before {
		t.Errorf("%s, and was %s", got, before)
	}
	for statement, want := range map[string]string{
		"COMMENT ON SEQUENCE order_numbers IS 'x'":                        "has privileges or a comment",
		"GRANT USAGE ON SEQUENCE order_numbers TO PUBLIC":                 "has privileges or a comment",
		"CREATE TABLE b (id bigint DEFAULT nextval('order_numbers'))":     "default value for column id of table b depends on the sequence",
		"CREATE VIEW v AS SELECT last_value FROM order_numbers":           "depends on the sequence",
		"CREATE SEQUENCE more; ALTER SEQUENCE more OWNED BY orders.id":    "",
		"ALTER TABLE orders OWNER TO CURRENT_USER; SELECT 'nothing else'": "",
	} {
		t.Run(statement, func(t *testing.T) {
			db := openPostgres(t)
			db.run(t, "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME order_numbers) PRIMARY KEY)")
			for s := range strings.SplitSeq(statement, "; ") {
				db.run(t, s)
			}
			_, err := migrate.Run(t.Context(), db.DB, db.config(migrate.Bigint))
			var config *core.ConfigError
			if want != "" && (!errors.As(err, &config) || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}
