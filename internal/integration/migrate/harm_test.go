package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// A way back in the middle of a fill leaves nothing, and the next migration begins anew.
func TestUndoFill(t *testing.T) {
	db := openPostgres(t)
	db.shop(t, 3000)
	before := db.schema(t, "public")
	db.killed(t, func(line string) bool {
		return strings.HasPrefix(line, "fill public.orders") && !strings.HasSuffix(line, " 0")
	})
	db.undo(t, db.config())
	db.unchanged(t, before)
	db.finish(t, db.config())
	db.checkShop(t)
}

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
