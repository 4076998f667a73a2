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
