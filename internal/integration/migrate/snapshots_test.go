package migrate

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A transaction that began before the fill sees rows without the new column: the swap waits for its end,
// whether or not an index on the column made the migration wait before.
func TestOldSnapshot(t *testing.T) {
	t.Parallel()
	for _, index := range []string{"", "CREATE UNIQUE INDEX ON orders (n)"} {
		db := openNext(t)
		db.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, n int)", "INSERT INTO orders SELECT i, i FROM generate_series(1, 1000) i")
		if index != "" {
			db.Run(t, index)
		}
		db.waitsFor(t, db.oldSnapshot(t), "n", 4*time.Second)
	}
}

// oldSnapshot begins a transaction that has read, but not yet the table orders.
func (db *engine) oldSnapshot(t *testing.T) *sql.Tx {
	t.Helper()
	return db.begin(t, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT 'the old one'")
}

// waitsFor checks that a migration waits for an old snapshot, which still reads all 1000 keys.
func (db *engine) waitsFor(t *testing.T, old *sql.Tx, column string, long time.Duration) {
	t.Helper()
	cfg := db.config()
	cfg.Column = column
	ended := db.start(cfg)
	select {
	case err := <-ended:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(long):
	}
	var rows, keys int
	err := old.QueryRow("SELECT count(*), count("+column+") FROM orders").Scan(&rows, &keys)
	if err != nil || rows != 1000 || keys != 1000 {
		t.Errorf("%d rows, %d keys, %v", rows, keys, err)
	}
	must(t, old.Rollback())
	must(t, <-ended)
	const typ = "SELECT data_type FROM information_schema.columns WHERE table_name = 'orders' AND column_name = "
	db.Expect(t, "bigint", typ+"'"+column+"'")
}

// The error names a session whose snapshot is too old.
func TestOldSnapshotNames(t *testing.T) {
	db := openPostgres(t)
	db.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, n int)", "INSERT INTO orders VALUES (1, 1)")
	db.oldSnapshot(t)
	cfg := db.config()
	cfg.Column, cfg.Patience = "n", time.Millisecond
	if _, err := migrate.Run(t.Context(), db.DB, cfg); !errors.Is(err, migrate.ErrBusy) || !strings.Contains(err.Error(), "the old one") {
		t.Errorf("%v", err)
	}
}

// feedback lets a standby say which snapshots it has.
func (db *engine) feedback(t testing.TB, primary *engine) {
	t.Helper()
	db.Run(t, "ALTER SYSTEM SET hot_standby_feedback = on", "ALTER SYSTEM SET wal_receiver_status_interval = 1", "SELECT pg_reload_conf()")
	primary.await(t, "SELECT count(backend_xmin) FROM pg_stat_replication")
}

// The swap waits for old snapshots of a standby, too. A standby that does not tell of them is refused.
func TestOldSnapshotOfStandby(t *testing.T) {
	t.Parallel()
	primary := testserver.New(t, testserver.KindPostgres)
	db := open(t, primary.DSN)
	db.Run(t, "CREATE TABLE orders (id int PRIMARY KEY)", "INSERT INTO orders SELECT generate_series(1, 1000)")
	standby := open(t, testserver.NewStandby(t, primary).DSN)
	db.await(t, "SELECT count(replay_lsn) FROM pg_stat_replication WHERE state = 'streaming'")
	db.refuses(t, db.config(), "SET hot_standby_feedback = on")
	standby.feedback(t, db)
	db.waitsFor(t, standby.oldSnapshot(t), "id", 8*time.Second)
}

// A policy that names the key is refused. As the error says, it is closed meanwhile: a role never sees more.
func TestPolicy(t *testing.T) {
	db := openPostgres(t)
	const role = "migrate_policy"
	db.role(t, role)
	db.Run(t, "CREATE TABLE orders (id int PRIMARY KEY)", "INSERT INTO orders SELECT generate_series(1, 10)", "ALTER TABLE orders ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY p ON orders USING (true)", "CREATE POLICY r ON orders AS RESTRICTIVE USING (id < 8)",
		"GRANT SELECT ON orders TO "+role)
	seen := func(want string) {
		t.Helper()
		tx := db.begin(t, "SET LOCAL ROLE "+role)
		defer func() { _ = tx.Rollback() }()
		var n string
		must(t, tx.QueryRow("SELECT count(*) FROM orders").Scan(&n))
		if n != want {
			t.Errorf("the role sees %s rows, and not %s", n, want)
		}
	}
	db.refuses(t, db.config(), "policy r on public.orders", "ALTER POLICY … USING (false)")
	seen("7")
	db.Run(t, "ALTER POLICY r ON orders USING (false)")
	db.finish(t, db.config())
	seen("0")
	db.Run(t, "ALTER POLICY r ON orders USING (id < 8)")
	seen("7")
}
