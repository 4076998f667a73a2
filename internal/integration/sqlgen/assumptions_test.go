package sqlgen

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

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

// log_cnt is 0 after setval and RESTART, and not after nextval. An orderly restart keeps that, so ids come
// after it.
func TestAssumptionsOfLogCount(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres)
	conn := connect(t, server.DSN)
	create(t, conn, orders)
	run(t, conn, "CREATE SEQUENCE s MINVALUE 0 START 0")
	for _, c := range []struct {
		statement string
		set       bool
	}{
		{"SELECT setval('s', 7)", true}, {"SELECT nextval('s')", false}, {"CHECKPOINT", false}, {"ALTER SEQUENCE s RESTART", true},
		{"SELECT CASE WHEN setval('s', 7) = 7 THEN nextval('s') END", false}, {next, false}, {"SELECT setval('s', 9, true)", true},
		{"SELECT nextval('s')", false},
	} {
		run(t, conn, c.statement)
		for range 2 {
			if set := one[bool](t, conn, "SELECT log_cnt = 0 FROM s"); set != c.set {
				t.Errorf("%s: %t", c.statement, set)
			}
			must(t, server.Restart())
			conn = connect(t, server.DSN)
			run(t, conn, next)
		}
	}
}
