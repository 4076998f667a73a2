package sqlgen

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// forgetful is an edit of the generator: after a crash, a failover or a restore, it continues where
// its sequences are.
var forgetful = []string{
	"pg_relation_size('\"public\".\"snowkey_raised\"') = 0", "false",
	"g.system <> ", "false AND g.system <> ",
	"g.relation <> ", "false AND g.relation <> ",
	"PERFORM \"public\".\"snowkey_flush\"()", "PERFORM 1",
}

// A database that is put back to an earlier state repeats no id: the floor is above all that was
// made since. Without it, the same events repeat ids.
func TestForgets(t *testing.T) {
	for name, event := range map[string]func(t *testing.T, server *testserver.Server, made func(*pgx.Conn)) *pgx.Conn{
		"asynchronous failover": failover,
		"data directory":        putBack,
		"dump, same database":   dumped,
		"a killed backend":      backendKilled,
	} {
		for rule, oldnew := range map[string][]string{"floor": nil, "no floor": forgetful} {
			t.Run(name+"/"+rule, func(t *testing.T) {
				t.Parallel()
				server := testserver.New(t, testserver.KindPostgres, lazy...)
				conn := connect(t, server.DSN)
				run(t, conn, testClock...)
				create(t, conn, orders, append(slices.Clone(oldnew), serverClock, movedClock)...)
				got := all(t, conn, many)
				var start time.Time
				conn = event(t, server, func(conn *pgx.Conn) {
					t.Helper()
					start = time.Now()
					run(t, conn, "BEGIN") // never committed, but seen
					for range 20 {
						got = append(got, all(t, conn, many)...)
					}
				})
				setClock(t, conn, start) // as if the event had taken no time
				before := len(got)
				for range 40 {
					got = append(got, all(t, conn, many)...)
				}
				if n := len(got) - len(distinct(got)); (n > 0) != (oldnew != nil) {
					t.Errorf("%d duplicates", n)
				} else {
					t.Logf("%d ids, %d duplicates, %v ahead", len(got), n, ahead(t, conn, got[before]).Round(time.Second))
				}
			})
		}
	}
}

// failover promotes a standby that lacks the last ids.
func failover(t *testing.T, server *testserver.Server, made func(*pgx.Conn)) *pgx.Conn {
	standby := testserver.NewStandby(t, server)
	second := connect(t, standby.DSN)
	refused(t, second, "25006", "read-only transaction", next)
	must(t, standby.Pause())
	made(connect(t, server.DSN))
	must(t, server.Kill())
	must(t, standby.Resume())
	run(t, second, "SELECT pg_promote()")
	return second
}

// putBack puts back a snapshot of the data directory of the running server.
func putBack(t *testing.T, server *testserver.Server, made func(*pgx.Conn)) *pgx.Conn {
	must(t, server.Snapshot())
	made(connect(t, server.DSN))
	must(t, server.Kill())
	must(t, server.PutBack())
	must(t, server.Start())
	return connect(t, server.DSN)
}

// dumped restores a dump into the same database.
func dumped(t *testing.T, server *testserver.Server, made func(*pgx.Conn)) *pgx.Conn {
	conn := connect(t, server.DSN)
	dump := pgDump(t, conn, server.DSN)
	session := connect(t, server.DSN)
	made(session)
	must(t, session.Close(context.Background()))
	run(t, conn, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
	restore(t, server.DSN, dump)
	return connect(t, server.DSN)
}

// backendKilled kills the process of one session, of which the log was not flushed.
func backendKilled(t *testing.T, server *testserver.Server, made func(*pgx.Conn)) *pgx.Conn {
	conn := connect(t, server.DSN)
	run(t, conn, "CHECKPOINT")
	made(conn)
	killBackend(t, conn)
	return recovered(t, server.DSN)
}

// ahead is how far an id's time is ahead of the clock.
func ahead(t *testing.T, conn *pgx.Conn, id int64) time.Duration {
	t.Helper()
	parts, err := core.Twitter().Decode(id)
	must(t, err)
	return parts.Time.Sub(one[time.Time](t, conn, "SELECT test_clock()"))
}
