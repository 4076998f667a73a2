package migrate

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/core"
)

// A column that was there before is neither given a default nor dropped.
func TestForeignColumn(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"note text DEFAULT 'none'", "n bigint DEFAULT 0", "m bigint"} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			db := openPostgres(t)
			db.run(t, "CREATE SEQUENCE next_id", "CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at timestamptz NOT NULL DEFAULT now(), "+column+")", "INSERT INTO orders DEFAULT VALUES")
			for _, undo := range []bool{false, true} {
				cfg := db.config(migrate.UUID)
				cfg.Undo, cfg.Backfill.Column = undo, strings.Fields(column)[0]
				db.refuses(t, cfg, "not of this migration")
			}
		})
	}
}

// A way back in the middle of a fill forgets how far it was: the next one begins with the oldest row.
func TestUndoFill(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.uuids(t, 3000)
	db.killed(t, migrate.UUID, func(line string) bool { return line == "fill public.orders 1500" })
	cfg := db.config(migrate.UUID)
	cfg.Undo = true
	db.again(t, cfg)
	if left := db.schema(t, "public"); strings.Contains(left, "id_snowkey") || strings.Contains(left, "snow_migrate") {
		t.Errorf("the schema is\n%s", left)
	}
	cfg.Undo = false
	db.migrate(t, cfg)
	db.checkUUIDs(t, 3000)
}

// Timeouts that a database sets for its sessions do not end a migration that waits for others.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind     migrate.Kind
		at       migrate.StepName
		lock     string
		settings []string
	}{
		{migrate.UUID, migrate.StepFill, "SELECT FROM orders WHERE note = 'old' FOR UPDATE", []string{"idle_session_timeout"}},
		{migrate.Bigint, migrate.StepIndex, "UPDATE orders SET note = 'locked'", []string{"idle_session_timeout", "transaction_timeout", "statement_timeout"}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			db := openPostgres(t)
			if c.kind == migrate.UUID {
				db.uuids(t, 1000)
			} else {
				db.pair(t)
			}
			tx, err := db.Begin() // its session is from before
			must(t, err)
			name := db.one(t, "SELECT current_database()")
			for _, setting := range c.settings {
				if db.one(t, "SELECT count(*) FROM pg_settings WHERE name = $1", setting) == "1" {
					db.run(t, fmt.Sprintf("ALTER DATABASE %q SET %s = '700ms'", name, setting))
				}
			}
			far := open(t, db.dsn)
			far.SetMaxIdleConns(-1)
			cfg := far.config(c.kind)
			var once sync.Once
			cfg.Progress = func(s migrate.Step, _, _ int64) {
				if s.Name != c.at {
					return
				}
				once.Do(func() {
					if _, err := tx.Exec(c.lock); err != nil {
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
		})
	}
}

// A pool of one connection cannot run a backfill beside the migration. One of two can.
func TestSmallPool(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.uuids(t, 1000)
	db.SetMaxOpenConns(1)
	cfg := db.config(migrate.UUID)
	var config *core.ConfigError
	if _, err := migrate.Run(t.Context(), db.DB, cfg); !errors.As(err, &config) || !strings.Contains(err.Error(), "db 1: must have at least two connections") {
		t.Errorf("%v", err)
	}
	db.SetMaxOpenConns(2)
	cfg.Finish = true
	if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
}

// The session is as it was afterwards, also settings that its program has made.
func TestSession(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.pair(t)
	db.SetMaxOpenConns(1)
	const settings = "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE source <> 'override' AND (name LIKE '%timeout' OR name LIKE '%isolation' OR name LIKE 'client%interval')"
	db.run(t, "SET statement_timeout = '77s'", "SET lock_timeout = '66s'", "SET default_transaction_isolation = 'repeatable read'")
	before := db.one(t, settings)
	db.migrate(t, db.config(migrate.Bigint))
	db.expect(t, before, settings)
	db.expect(t, "0", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
}

// A key that no index begins with is refused: its greatest value could not be found in time.
func TestDefaultWithoutIndex(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id int PRIMARY KEY, n bigserial)")
	cfg := db.config(migrate.Default)
	cfg.Column, cfg.Generator = "n", "random() * 1000"
	if _, err := migrate.Inspect(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "n has no index that begins with it") {
		t.Errorf("%v", err)
	}
	db.run(t, "CREATE INDEX ON orders (n)")
	if _, err := migrate.Inspect(t.Context(), db.DB, cfg); err != nil {
		t.Error(err)
	}
}

// A step that holds its locks for too long is not tried for all of Patience: writers wait each time.
func TestHeldTooLong(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id bigserial PRIMARY KEY)", "INSERT INTO orders DEFAULT VALUES",
		"CREATE FUNCTION slow() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT 9000000000000000000 FROM pg_sleep(9)'")
	cfg := db.config(migrate.Default)
	cfg.Generator, cfg.HoldTimeout = "slow()", time.Second
	_, err := migrate.Run(t.Context(), db.DB, cfg)
	if err == nil || errors.Is(err, migrate.ErrBusy) || !strings.Contains(err.Error(), "canceled 5 times, after HoldTimeout, 1s") {
		t.Errorf("%v", err)
	}
}

// A migration that waits for a long transaction has held no lock: it tries until Patience ends.
func TestWaitIsNotHeld(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id bigserial PRIMARY KEY)", "INSERT INTO orders DEFAULT VALUES")
	long, err := db.Begin()
	must(t, err)
	if _, err := long.Exec("LOCK TABLE orders IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	cfg := db.config(migrate.Default)
	cfg.Generator, cfg.LockTimeout = "9000000000000000000", 50*time.Millisecond
	ended := make(chan error, 1)
	go func() {
		_, err := migrate.Run(t.Context(), db.DB, cfg)
		ended <- err
	}()
	for range 40 { // 5 attempts would be enough if they were counted
		select {
		case err := <-ended:
			t.Fatalf("ended: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	must(t, long.Rollback())
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
