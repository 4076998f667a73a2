package migrate

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// pair makes a table, and one that refers to it.
func (db *engine) pair(t testing.TB) {
	t.Helper()
	db.Run(t, "CREATE TABLE orders (id serial PRIMARY KEY, note varchar(100) NOT NULL)", "INSERT INTO orders (note) VALUES ('old'), ('old')",
		"CREATE TABLE order_lines (order_id int PRIMARY KEY, FOREIGN KEY (order_id) REFERENCES orders (id))", "INSERT INTO order_lines VALUES (1), (2)")
}

// openPair opens a database with them, as openPostgres does.
func openPair(t *testing.T) *engine {
	t.Helper()
	db := openPostgres(t)
	db.pair(t)
	return db
}

// A migration goes back from each step, and the schema is what it was.
func TestUndo(t *testing.T) {
	db := openPostgres(t)
	db.shop(t, 1000)
	before := db.schema(t, "public")
	cfg := db.config()
	plan, err := migrate.Inspect(t.Context(), db.DB, cfg)
	must(t, err)
	if again, err := migrate.Inspect(t.Context(), db.DB, cfg); err != nil || again.String() != plan.String() {
		t.Errorf("another plan, %v:\n%s", err, again)
	}
	for _, at := range []string{migrate.StepColumns, migrate.StepFill, migrate.StepValidate, migrate.StepIndex, migrate.StepForeignKey, migrate.StepSwap, migrate.StepFinish} {
		t.Run(at, func(t *testing.T) {
			there := cfg
			there.StopBefore = at
			left := db.migrate(t, there).Plan.Left()
			if len(left) == 0 || left[0].Name != at {
				t.Errorf("left: %s", names(left))
			}
			db.undo(t, cfg)
			db.unchanged(t, before)
		})
	}
	// With an id that does not fit, there is no way back.
	db.migrate(t, cfg)
	back := cfg
	back.Undo = true
	db.Run(t, "INSERT INTO orders (id, note) VALUES (9000000000000000000, 'new')")
	db.refuses(t, back, "9000000000000000000, which does not fit into integer")
	db.Run(t, "DELETE FROM orders WHERE id = 9000000000000000000")
	db.undo(t, cfg)
	db.unchanged(t, before)
	db.finish(t, cfg)
	if now, want := db.schema(t, "public"), before; strings.Contains(now, "migrate") || strings.Count(now, "\n") != strings.Count(want, "\n") {
		t.Errorf("the schema is\n%s\nand was\n%s", now, want)
	}
	db.Expect(t, "integer", "SELECT data_type FROM information_schema.columns WHERE table_name = 'order_lines' AND column_name = 'line'")
	db.Expect(t, "It's the key", "SELECT col_description('orders'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'id'")
	db.Expect(t, "public.orders_id_seq", "SELECT pg_get_serial_sequence('orders', 'id')")
}

// A way back that stops before its swap can be given up: ids are accepted again, and the old columns
// can be dropped.
func TestAbandonUndo(t *testing.T) {
	t.Parallel()
	for _, finish := range []bool{false, true} {
		db := openNext(t)
		db.pair(t)
		cfg := db.config()
		db.migrate(t, cfg)
		back := cfg
		back.Undo, back.StopBefore = true, migrate.StepSwap
		db.migrate(t, back)
		const insert = "INSERT INTO orders (id, note) VALUES (9000000000000000000, 'new')"
		if _, err := db.Exec(insert); err == nil {
			t.Fatal("an id is accepted on the way back")
		}
		cfg.Finish = finish
		db.migrate(t, cfg)
		db.Run(t, insert)
		db.finish(t, cfg)
		db.Expect(t, "0", "SELECT count(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id WHERE o.id IS NULL")
	}
}

// StopBefore stops also if its step is done already, or is none of the plan's.
func TestStopBefore(t *testing.T) {
	db := openPair(t)
	cfg := db.config()
	cfg.StopBefore = migrate.StepRemove
	if result, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), `StopBefore "remove": is no step of this plan`) || len(result.Steps) > 0 {
		t.Errorf("%v, %s", err, names(result.Steps))
	}
	for _, at := range []string{migrate.StepIndex, migrate.StepFill} {
		cfg.StopBefore = at
		if left := db.migrate(t, cfg).Plan.Left(); len(left) == 0 || left[0].Name != migrate.StepIndex {
			t.Errorf("stopped before %s, left: %s", at, names(left))
		}
	}
}

// The error says what has kept a step from its lock.
func TestBusyNames(t *testing.T) {
	db := openPair(t)
	db.begin(t, "UPDATE orders SET note = 'forever' WHERE id = 1")
	cfg := db.config()
	cfg.Patience = time.Millisecond
	_, err := migrate.Run(t.Context(), db.DB, cfg)
	if !errors.Is(err, migrate.ErrBusy) || !strings.Contains(err.Error(), "transaction since") {
		t.Errorf("%v", err)
	}
}

// silent is a connection that sends nothing more after it has locked tables.
type silent struct {
	net.Conn
	locked, done chan struct{}
	is           *atomic.Bool
}

func (c silent) Write(b []byte) (int, error) {
	if c.is.Load() {
		<-c.done
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Write(b)
	if strings.Contains(string(b), "IN ACCESS EXCLUSIVE MODE") && c.is.CompareAndSwap(false, true) {
		close(c.locked)
	}
	return n, err
}

// The server ends a migration that is cut off while it holds its locks.
func TestCutOff(t *testing.T) {
	db := openPair(t)
	config, err := pgx.ParseConfig(db.DSN)
	must(t, err)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a statement is one message
	locked, done := make(chan struct{}), make(chan struct{})
	var is atomic.Bool
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return silent{conn, locked, done, &is}, err
	}
	far := stdlib.OpenDB(*config)
	ended := make(chan error, 1)
	go func() {
		_, err := migrate.Run(context.Background(), far, db.config())
		ended <- err
	}()
	<-locked
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // the plan states 2.3 s, and the machine may be busy
	defer cancel()
	if _, err := db.ExecContext(ctx, "UPDATE orders SET note = 'later' WHERE id = 1"); err != nil {
		t.Errorf("a writer: %v", err)
	}
	close(done)
	if err := <-ended; err == nil {
		t.Error("a migration that was cut off succeeds")
	}
	_ = far.Close()
	db.migrate(t, db.config())
	db.Expect(t, "later", "SELECT note FROM orders WHERE id = 1")
}
