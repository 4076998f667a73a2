package sqlgen

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A call is cancelled once it has raised the floor after a crash, before the log has that. The next
// call must not issue ids above the floor before it is flushed: in a second crash the floor would be
// lost, and its ids given again.
func TestCancelledAtFloor(t *testing.T) {
	for name, c := range map[string]struct {
		oldnew    []string
		duplicate bool
	}{
		"flushed":     {[]string{}, false},
		"not flushed": {[]string{"PERFORM \"public\".\"snowkey_flush\"()", "PERFORM 1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testserver.New(t, testserver.KindPostgres, lazy...)
			conn := connect(t, server.DSN)
			run(t, conn,
				"CREATE FUNCTION test_clock() RETURNS timestamptz LANGUAGE sql AS 'SELECT timestamptz ''2030-01-01'''",
				"CREATE SEQUENCE test_stop MINVALUE 0 START 0",
				"SELECT setval('test_stop', 0)",
				`CREATE FUNCTION test_insert_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS 'BEGIN
					IF pg_sequence_last_value(''public.test_stop'') = 1 THEN
						RAISE query_canceled;
					END IF;
					RETURN pg_current_wal_insert_lsn();
				END'`)
			create(t, conn, orders, append(c.oldnew, serverClock, movedClock, "pg_current_wal_insert_lsn()", "public.test_insert_lsn()")...)
			first := all(t, conn, many)
			again := func() {
				t.Helper()
				must(t, server.Kill())
				must(t, server.Start())
				conn = connect(t, server.DSN)
				run(t, conn, "BEGIN") // its end would have the log flushed
			}
			again()
			if !c.duplicate {
				run(t, conn, "SELECT setval('test_stop', 1)", "SAVEPOINT a")
				refused(t, conn, "57014", "query_canceled", next)
				run(t, conn, "ROLLBACK TO a", "SELECT setval('test_stop', 0)")
				if floor := one[int64](t, conn, "SELECT last_value FROM snowkey_floor"); floor == 0 {
					t.Error("the call was cancelled before it raised the floor")
				}
			}
			second := all(t, conn, many)
			again()
			got := slices.Concat(first, second, all(t, conn, many))
			if n := len(got) - len(distinct(got)); (n > 0) != c.duplicate {
				t.Errorf("%d duplicates", n)
			}
		})
	}
}

func distinct(got []int64) []int64 {
	got = slices.Clone(got)
	slices.Sort(got)
	return slices.Compact(got)
}

// With wal_level minimal, ids come after a crash as well.
func TestMinimalLog(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, "-c", "wal_level=minimal", "-c", "max_wal_senders=0")
	conn := connect(t, server.DSN)
	create(t, conn, orders)
	var found ids
	var last int64
	run(t, conn, "BEGIN")
	found.add(t, &last, all(t, conn, many)...)
	must(t, server.Kill())
	must(t, server.Start())
	conn = connect(t, server.DSN)
	run(t, conn, "BEGIN")
	found.add(t, &last, all(t, conn, many)...)
	near(t, last, -30*time.Second, 41*time.Second)
}
