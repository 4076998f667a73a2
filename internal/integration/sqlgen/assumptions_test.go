package sqlgen

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// What the generator assumes of PostgreSQL's sequences, locks and unlogged tables.
func TestAssumptions(t *testing.T) {
	dsn := database(t)
	a, b := connect(t, dsn), connect(t, dsn)
	run(t, a, "CREATE SEQUENCE s MINVALUE 0 START 0 CACHE 32", "SELECT setval('s', 31)")
	value := func(t *testing.T, conn *pgx.Conn) int64 { return one[int64](t, conn, "SELECT nextval('s')") }
	want := func(t *testing.T, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	t.Run("sessions have aligned blocks of their own", func(t *testing.T) {
		want(t, value(t, a), 32)
		want(t, value(t, b), 64)
		want(t, value(t, a), 33)
		want(t, one[int64](t, a, "SELECT pg_sequence_last_value('s')"), 95)
	})
	t.Run("a rollback changes neither the sequence nor a session's block", func(t *testing.T) {
		run(t, a, "BEGIN", "SAVEPOINT x")
		want(t, value(t, a), 34)
		run(t, a, "ROLLBACK TO x")
		want(t, value(t, a), 35)
		run(t, a, "SELECT setval('s', 127)", "ROLLBACK")
		want(t, value(t, a), 128)
		want(t, value(t, b), 65)
	})
	t.Run("setval empties the session's block only", func(t *testing.T) {
		run(t, a, "SELECT setval('s', 191)")
		want(t, value(t, b), 66)
		want(t, value(t, a), 192)
	})
	t.Run("setval lowers", func(t *testing.T) {
		run(t, b, "SELECT setval('s', 191)")
		want(t, value(t, b), 192)
	})
	t.Run("DISCARD loses the block", func(t *testing.T) {
		run(t, a, "DISCARD SEQUENCES")
		want(t, value(t, a), 224)
	})
	t.Run("RESTART waits for those who use it, and empties their blocks", func(t *testing.T) {
		run(t, b, "BEGIN")
		want(t, value(t, b), 193)
		run(t, a, "SET lock_timeout = '50ms'")
		refused(t, a, "55P03", "lock timeout", "ALTER SEQUENCE s RESTART")
		run(t, b, "COMMIT")
		run(t, a, "ALTER SEQUENCE s RESTART", "SELECT setval('s', 1023)")
		want(t, value(t, b), 1024)
	})
	t.Run("RESTART and the setval after it are undone by a rollback", func(t *testing.T) {
		run(t, a, "BEGIN", "ALTER SEQUENCE s RESTART", "SELECT setval('s', 0)", "ROLLBACK")
		want(t, value(t, a), 1056)
	})
	t.Run("a lock ends with its subtransaction", func(t *testing.T) {
		run(t, a, "CREATE TABLE l ()", "BEGIN", "SAVEPOINT x", "LOCK TABLE l IN SHARE UPDATE EXCLUSIVE MODE")
		run(t, b, "BEGIN")
		refused(t, b, "55P03", "could not obtain lock", "LOCK TABLE l IN SHARE UPDATE EXCLUSIVE MODE NOWAIT")
		run(t, a, "ROLLBACK TO x")
		run(t, b, "ROLLBACK", "BEGIN", "LOCK TABLE l IN SHARE UPDATE EXCLUSIVE MODE NOWAIT", "ROLLBACK")
		run(t, a, "ROLLBACK")
	})
	t.Run("an unlogged table keeps the page of a row that was rolled back", func(t *testing.T) {
		run(t, a, "CREATE UNLOGGED TABLE m (x int) WITH (autovacuum_enabled = false, vacuum_truncate = false)", "BEGIN", "INSERT INTO m VALUES (1)")
		want(t, one[int64](t, b, "SELECT pg_relation_size('m')"), 8192)
		run(t, a, "ROLLBACK", "VACUUM m")
		want(t, one[int64](t, b, "SELECT pg_relation_size('m')"), 8192)
	})
}

// After a crash, blocks are aligned as before, whether a checkpoint came between or not.
func TestAssumptionsOfCrashes(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, lazy...)
	conn := connect(t, server.DSN)
	run(t, conn, "CREATE UNLOGGED TABLE m (x int)", "INSERT INTO m VALUES (1)")
	for _, cache := range []string{"4", "8", "16", "32"} {
		run(t, conn, "CREATE SEQUENCE s"+cache+" MINVALUE 0 START 0 CACHE "+cache, "SELECT setval('s"+cache+"', "+cache+" * 8 - 1)")
	}
	for round := range 3 {
		for _, cache := range []string{"4", "8", "16", "32"} {
			if got := one[int64](t, conn, "SELECT nextval('s"+cache+"') % "+cache); got != 0 {
				t.Errorf("round %d, CACHE %s: a block begins at %d", round, cache, got)
			}
			run(t, conn, "SELECT nextval('s"+cache+"') FROM generate_series(1, 100)")
		}
		if round%2 == 0 {
			run(t, conn, "CHECKPOINT", "SELECT nextval('s32') FROM generate_series(1, 5)")
		}
		run(t, conn, "SELECT pg_switch_wal()") // so that the log is flushed, and has what was not committed
		must(t, server.Kill())
		must(t, server.Start())
		conn = connect(t, server.DSN)
		if size := one[int64](t, conn, "SELECT pg_relation_size('m')"); size != 0 {
			t.Errorf("the unlogged table has %d bytes", size)
		}
		run(t, conn, "INSERT INTO m VALUES (1)")
		must(t, server.Restart())
		conn = connect(t, server.DSN)
		if size := one[int64](t, conn, "SELECT pg_relation_size('m')"); size == 0 {
			t.Error("an orderly restart has emptied the unlogged table")
		}
	}
}
