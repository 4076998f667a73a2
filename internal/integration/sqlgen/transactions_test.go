package sqlgen

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// No id comes again after a rollback, of a transaction, of a savepoint or of a prepared
// transaction. Not even the sessions' first ids do, for which there was no block before.
func TestRollbacks(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, "-c", "max_prepared_transactions=4")
	conn := connect(t, server.DSN)
	create(t, conn, orders)
	run(t, conn, "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowkey_next('orders'), note text)")
	var found ids
	for _, c := range []struct {
		name          string
		before, after []string
	}{
		{"rollback", []string{"BEGIN"}, []string{"ROLLBACK"}},
		{"savepoint", []string{"BEGIN", "SAVEPOINT a"}, []string{"ROLLBACK TO a", next, "ROLLBACK"}},
		{"an error", []string{"BEGIN", "SAVEPOINT a", next}, []string{"ROLLBACK TO a", "ROLLBACK"}},
		{"repeatable read", []string{"BEGIN ISOLATION LEVEL REPEATABLE READ"}, []string{"ROLLBACK"}},
		{"serializable", []string{"BEGIN ISOLATION LEVEL SERIALIZABLE"}, []string{"COMMIT"}},
		{"prepared and rolled back", []string{"BEGIN"}, []string{"PREPARE TRANSACTION 'p'", "ROLLBACK PREPARED 'p'"}},
		{"prepared and committed", []string{"BEGIN"}, []string{"PREPARE TRANSACTION 'p'", "COMMIT PREPARED 'p'"}},
		{"discard all", nil, []string{"DISCARD ALL"}},
		{"discard sequences", nil, []string{"DISCARD SEQUENCES"}},
		{"discard temp", nil, []string{"DISCARD TEMP"}},
		{"unlock", nil, []string{"SELECT pg_advisory_unlock_all()"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			session := connect(t, server.DSN) // has no block yet
			var last int64
			for range 3 {
				run(t, session, c.before...)
				found.add(t, &last, all(t, session, "INSERT INTO orders (note) SELECT 'x' FROM generate_series(1, 50) RETURNING id")...)
				found.add(t, &last, one[int64](t, session, next))
				run(t, session, c.after...)
				found.add(t, &last, one[int64](t, session, next))
			}
		})
	}
	near(t, one[int64](t, conn, next), 5*time.Second, 41*time.Second) // the server is new: it may have been put back
}

// A transaction that is open for longer than the fence reaches, alone on the server, gets ids
// all the time, and so do others. At each isolation level: no snapshot hides the fence.
func TestLongTransaction(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	createWithClock(t, conn, orders)
	var found ids
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		t.Run(level, func(t *testing.T) {
			long, other := connect(t, dsn), connect(t, dsn)
			var last, others int64
			run(t, long, "BEGIN ISOLATION LEVEL "+level)
			for range 20 {
				found.add(t, &last, all(t, long, many)...)
				run(t, long, "SELECT test_step('3s')")
			}
			found.add(t, &others, all(t, other, many)...)
			run(t, long, "COMMIT")
		})
	}
}

// A statement that is cancelled, or a session that is killed, while it waits or works, does
// not keep the lock from others.
func TestCancelled(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	create(t, conn, orders)
	var found ids
	for _, how := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		for range 10 {
			victim := connect(t, dsn)
			pid := victim.PgConn().PID()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = victim.Exec(t.Context(), "DO 'BEGIN LOOP PERFORM snowkey_refill(''orders''); END LOOP; END'")
			}()
			before := one[int64](t, conn, "SELECT last_value FROM snowkey_cursor")
			for one[int64](t, conn, "SELECT last_value FROM snowkey_cursor, pg_sleep(0.01)") == before {
			}
			run(t, conn, "SELECT "+how+"("+itoa(pid)+")")
			<-done
			var last int64
			found.add(t, &last, all(t, conn, many)...)
		}
	}
	if locks := one[int](t, conn, "SELECT count(*) FROM pg_locks WHERE relation = 'snowkey_lock'::regclass"); locks > 0 {
		t.Errorf("%d locks are left", locks)
	}
}

// A session whose first call fails while it waits for the lock, or is refused, keeps nothing of
// the block that its nextval has begun without the lock.
func TestFailedFirstCall(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	createWithClock(t, conn, orders)
	holder := connect(t, dsn)
	run(t, conn, next)
	empty := func(t *testing.T, session *pgx.Conn) {
		t.Helper()
		if got := one[int64](t, session, "SELECT nextval('snowkey_cursor') % 32"); got != 0 {
			t.Errorf("the session has a block from value %d on", got)
		}
		run(t, session, "DISCARD SEQUENCES")
	}
	t.Run("cancelled", func(t *testing.T) {
		session := connect(t, dsn)
		run(t, session, "SET statement_timeout = '50ms'")
		run(t, holder, "BEGIN", "LOCK TABLE snowkey_lock IN SHARE UPDATE EXCLUSIVE MODE")
		refused(t, session, "57014", "statement timeout", next)
		run(t, holder, "ROLLBACK")
		empty(t, session)
	})
	t.Run("refused", func(t *testing.T) {
		session := connect(t, dsn)
		run(t, conn, "SELECT test_step('-1h')")
		refused(t, session, notReady, "ahead of the clock", next)
		empty(t, session)
		refused(t, session, "22023", "namespace", "SELECT snowkey_next('x')")
		empty(t, session)
	})
}
