package sqlgen

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Nothing flushes the log of this server unless it must.
var lazy = []string{"-c", "wal_writer_delay=3s", "-c", "bgwriter_delay=10s", "-c", "wal_buffers=16MB", "-c", "checkpoint_timeout=1h", "-c", "synchronous_commit=off", "-c", "autovacuum=off"}

// The server is killed again and again while sessions take ids, in transactions that never
// commit. Each time the clock goes back to where it was before, so that it does not keep ids
// apart. The clients note an id as soon as they read it; none comes again.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, lazy...)
	createWithClock(t, connect(t, server.DSN), orders)
	var found ids
	for round := range 4 {
		// Later by more than ids may be ahead, so that no round waits for the one before.
		start := time.Now().Add(time.Duration(round) * 2 * time.Minute)
		const sessions, least = 4, 20
		for range 2 {
			setClock(t, connect(t, server.DSN), start)
			got := make([][]int64, sessions)
			var running, enough sync.WaitGroup
			enough.Add(sessions)
			for i := range sessions {
				conn := connect(t, server.DSN)
				running.Go(func() { got[i] = untilLost(t.Context(), conn, least, enough.Done) })
			}
			enough.Wait()
			must(t, server.Kill())
			running.Wait()
			for _, of := range got {
				var last int64
				found.add(t, &last, of...)
			}
			must(t, server.Start())
		}
	}
	t.Logf("%d ids, 8 crashes", len(found.seen))
}

// untilLost takes ids until the connection is lost, and calls enough after as many statements.
func untilLost(ctx context.Context, conn *pgx.Conn, least int, enough func()) (got []int64) {
	_, _ = conn.Exec(ctx, "BEGIN")
	for i := 0; ; i++ {
		if i == least {
			enough()
		}
		rows, _ := conn.Query(ctx, "SELECT snowkey_next('orders') FROM generate_series(1, 40)")
		for rows.Next() {
			var id int64
			if rows.Scan(&id) == nil {
				got = append(got, id)
			}
		}
		if rows.Err() != nil {
			if i < least {
				enough()
				for i++; i < least; i++ { // a test that cannot take ids must not hang
				}
			}
			return got
		}
	}
}

// One session is killed, for which the server restarts all others: that is a crash as well.
func TestKilledBackend(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, lazy...)
	conn := connect(t, server.DSN)
	createWithClock(t, conn, orders)
	var found ids
	var last int64
	for round := range 3 {
		start := time.Now().Add(time.Duration(round) * 2 * time.Minute)
		setClock(t, conn, start)
		run(t, conn, "BEGIN")
		found.add(t, &last, all(t, conn, many)...)
		// The second step is beyond the fence that the first ids needed.
		for range 2 {
			run(t, conn, "SELECT test_step('3s')")
			found.add(t, &last, all(t, conn, many)...)
		}
		killBackend(t, conn)
		conn = recovered(t, server.DSN)
		setClock(t, conn, start.Add(6*time.Second))
		found.add(t, &last, all(t, conn, many)...)
	}
}

// A floor that an operator has raised by an hour stops no id after a crash: the next ones are further ahead.
func TestKilledBackendUnderARaisedFloor(t *testing.T) {
	t.Parallel()
	server := testserver.New(t, testserver.KindPostgres, lazy...)
	conn := connect(t, server.DSN)
	create(t, conn, orders)
	store, err := sqlstore.New(openDB(t, server.DSN), sqlstore.Config{})
	must(t, err)
	run(t, conn, fmt.Sprintf("UPDATE snow_namespace SET floor = %d WHERE namespace = 'orders'", time.Now().Add(time.Hour).UnixMilli()))
	_, err = store.Raise(t.Context(), "orders", 0)
	must(t, err)
	run(t, conn, "SELECT snowkey_claim('{7}')")
	before := one[int64](t, conn, next)
	killBackend(t, conn)
	after := one[int64](t, recovered(t, server.DSN), next)
	parts, err := core.Twitter().Decode(after)
	if must(t, err); after <= before || time.Until(parts.Time) < time.Hour {
		t.Errorf("%d after %d, at %v", after, before, parts.Time)
	}
}

// killBackend kills the server's process of a connection.
func killBackend(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	process, err := os.FindProcess(int(conn.PgConn().PID()))
	must(t, err)
	must(t, process.Kill())
	for conn.Ping(t.Context()) == nil {
	}
}

// recovered connects to a server after its crash, which has emptied the marker.
func recovered(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	for t.Context().Err() == nil {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			continue
		}
		var empty bool
		err = conn.QueryRow(t.Context(), "SELECT pg_relation_size('snowkey_marker') = 0").Scan(&empty)
		_ = conn.Close(t.Context())
		if err == nil && empty {
			return connect(t, dsn)
		}
	}
	t.Fatal(t.Context().Err())
	return nil
}
