package migrate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// A migration that was killed in a long statement keeps its lock until the server notices. The next one waits
// for that. While it runs, another one is refused.
func TestAgainAtOnce(t *testing.T) {
	db := openPair(t)
	cfg := db.config()
	cfg.StopBefore = migrate.StepIndex
	db.migrate(t, cfg)
	old := db.begin(t, "UPDATE orders SET note = 'old'") // CREATE INDEX waits for its end
	db.killed(t, func(line string) bool {
		found := strings.HasPrefix(line, "index public.orders")
		if found {
			db.await(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
		}
		return found
	})
	cfg.StopBefore = ""
	cfg.Progress = func(s migrate.Step, _, _ int64) {
		if s.Name == migrate.StepIndex && old.Rollback() == nil { // the first time
			if _, err := migrate.Run(context.Background(), db.DB, db.config()); !errors.Is(err, migrate.ErrRunning) {
				t.Errorf("at the same time: %v", err)
			}
		}
	}
	db.migrate(t, cfg)
}

// A table with columns of two keys has one migration at a time: the trigger of the second would leave new rows
// without values in the columns of the first.
func TestOtherKey(t *testing.T) {
	db := openPostgres(t)
	db.Run(t, "CREATE TABLE orders (id int PRIMARY KEY)", "CREATE TABLE products (id int PRIMARY KEY)", "CREATE TABLE lines (o int NOT NULL REFERENCES orders, p int NOT NULL REFERENCES products)",
		"INSERT INTO orders VALUES (1)", "INSERT INTO products VALUES (1)")
	const refused = `Table "public.lines": has the column o_migrate of a migration that is not finished: finish or undo that first`
	first, other := db.config(), migrate.Config{Table: "products"}
	for _, first.StopBefore = range []string{migrate.StepFill, migrate.StepSwap, ""} {
		db.migrate(t, first)
		db.refuses(t, other, refused)
		db.Run(t, "INSERT INTO lines (o, p) VALUES (1, 1)")
	}
	db.undo(t, first)
	db.migrate(t, other)
	db.refuses(t, first, "has the column p_migrate")
	db.finish(t, other)
	db.finish(t, first)
	db.Expect(t, "3 bigint bigint", "SELECT count(*) || ' ' || min(pg_typeof(o)::text) || ' ' || min(pg_typeof(p)::text) FROM lines")
}

// A Run whose context ends says so, wherever it is.
func TestCanceled(t *testing.T) {
	db := openPair(t)
	for n := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		cfg := db.config()
		cfg.Progress = func(s migrate.Step, _, _ int64) {
			if s.Name == []string{migrate.StepColumns, migrate.StepFill, migrate.StepValidate}[n] {
				cancel()
			}
		}
		if _, err := migrate.Run(ctx, db.DB, cfg); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
	}
	db.finish(t, db.config())
}

// Timeouts that a database sets for its sessions do not end a migration that waits for others.
func TestTimeouts(t *testing.T) {
	db := openPair(t)
	tx := db.begin(t) // its session is from before
	name := db.One(t, "SELECT current_database()")
	for _, setting := range []string{"idle_session_timeout", "transaction_timeout", "statement_timeout"} {
		if db.One(t, "SELECT count(*) FROM pg_settings WHERE name = $1", setting) == "1" {
			db.Run(t, fmt.Sprintf("ALTER DATABASE %q SET %s = '700ms'", name, setting))
		}
	}
	far := open(t, db.DSN)
	far.SetMaxOpenConns(1)
	cfg := far.config()
	var once sync.Once
	cfg.Progress = func(s migrate.Step, _, _ int64) {
		if s.Name != migrate.StepIndex {
			return
		}
		once.Do(func() {
			if _, err := tx.Exec("UPDATE orders SET note = 'locked'"); err != nil {
				t.Error(err)
			}
			time.AfterFunc(2*time.Second, func() { _ = tx.Rollback() })
		})
	}
	begun := time.Now()
	far.migrate(t, cfg)
	if time.Since(begun) < 2*time.Second {
		t.Error("it has not waited")
	}
}

// The migration leaves neither settings nor its lock in the pool.
func TestSession(t *testing.T) {
	db := openPair(t)
	db.SetMaxOpenConns(1)
	db.migrate(t, db.config())
	db.Expect(t, "0", "SELECT count(*) FROM pg_settings WHERE source = 'session'", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
}

// A step that holds its locks for too long is not tried for all of Patience: writers wait each time.
func TestHeldTooLong(t *testing.T) {
	db := openPair(t)
	db.Run(t, "CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(9); END'",
		"CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION slow()")
	cfg := db.config()
	cfg.HoldTimeout = time.Second
	_, err := migrate.Run(t.Context(), db.DB, cfg)
	if err == nil || errors.Is(err, migrate.ErrBusy) || !strings.Contains(err.Error(), "canceled 5 times, after HoldTimeout, 1s") {
		t.Errorf("%v", err)
	}
}

// A migration that waits for a long transaction has held no lock: it tries until Patience ends.
func TestWaitIsNotHeld(t *testing.T) {
	db := openPair(t)
	long := db.begin(t, "LOCK TABLE orders IN ROW EXCLUSIVE MODE")
	cfg := db.config()
	cfg.LockTimeout = 50 * time.Millisecond
	ended := db.start(cfg)
	for range 40 { // 5 attempts would be enough if they were counted
		select {
		case err := <-ended:
			t.Fatalf("ended: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	must(t, long.Rollback())
	must(t, <-ended)
}

// The first lock waits for longer than deadlock_timeout, so that PostgreSQL cancels an autovacuum that has it,
// however long the other locks may be held.
func TestFirstLockWaits(t *testing.T) {
	db := openPair(t)
	vacuum := db.begin(t, "LOCK TABLE orders IN SHARE UPDATE EXCLUSIVE MODE")
	cfg := db.config()
	cfg.HoldTimeout, cfg.Patience = time.Minute, 20*time.Second
	ended := db.start(cfg)
	const waits = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE %'
		AND datname = current_database() AND clock_timestamp() - query_start > 2 * current_setting('deadlock_timeout')::interval`
	for db.One(t, waits) != "1" {
		select {
		case err := <-ended:
			t.Fatalf("ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	must(t, vacuum.Rollback())
	must(t, <-ended)
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
