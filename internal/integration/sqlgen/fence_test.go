package sqlgen

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A call is cancelled once it has raised the fence, before it has noted where the log has that.
// The next call must not take the fence for flushed: in a crash, ids below it would be lost, and
// given again.
func TestCancelledAtFence(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, lazy...)
	conn := connect(t, server.DSN)
	run(t, conn, testClock...)
	run(t, conn,
		"CREATE SEQUENCE test_stop MINVALUE 0 START 0",
		"SELECT setval('test_stop', 0)",
		`CREATE FUNCTION test_insert_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS 'BEGIN
			IF pg_sequence_last_value(''public.test_stop'') = 1 THEN
				RAISE query_canceled;
			END IF;
			RETURN pg_current_wal_insert_lsn();
		END'`)
	create(t, conn, orders, serverClock, movedClock, "pg_current_wal_insert_lsn()", "public.test_insert_lsn()")
	start := time.Now()
	setClock(t, conn, start)
	var found ids
	var last int64
	found.add(t, &last, all(t, conn, many)...)

	// In one transaction: the end of one would have the log flushed.
	run(t, conn, "SELECT test_step('8s')", "BEGIN", "SELECT setval('test_stop', 1)", "SAVEPOINT a")
	refused(t, conn, "57014", "query_canceled", next)
	run(t, conn, "ROLLBACK TO a", "SELECT setval('test_stop', 0)")
	fence := one[int64](t, conn, "SELECT last_value FROM snowkey_fence")
	flushed := one[string](t, conn, "SELECT pg_current_wal_flush_lsn()::text")
	found.add(t, &last, all(t, conn, many)...)
	if safe := one[int64](t, conn, "SELECT last_value FROM snowkey_safe"); safe < fence {
		t.Errorf("the fence %d is not used: %d", fence, safe)
	}
	if now := one[string](t, conn, "SELECT pg_current_wal_flush_lsn()::text"); now == flushed {
		t.Errorf("the fence is used, but the log ends at %s as before", now)
	}
	must(t, server.Kill())
	must(t, server.Start())
	conn = connect(t, server.DSN)
	setClock(t, conn, start.Add(7*time.Second))
	for before, last := last, int64(0); last < before; {
		found.add(t, &last, all(t, conn, many)...)
	}
}

// With wal_level minimal the server writes no log of what flushes it elsewhere.
func TestMinimalLog(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, "-c", "wal_level=minimal", "-c", "max_wal_senders=0")
	conn := connect(t, server.DSN)
	createWithClock(t, conn, orders)
	var found ids
	var last int64
	run(t, conn, "BEGIN")
	for range 5 {
		found.add(t, &last, all(t, conn, many)...)
		run(t, conn, "SELECT test_step('1min')")
	}
}
