package sqlgen

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Eight sessions, which take single ids and many, and a Go program with a lease of the same
// namespace make no id twice. Each session's ids ascend, and have the time of the clock.
func TestSessionsAndLease(t *testing.T) {
	for name, g := range map[string]ddl.Generator{
		"one worker ID": orders,
		"three":         {Dialect: ddl.Postgres, Namespace: "orders", Workers: []int64{7, 500, 501}},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := database(t)
			admin := connect(t, dsn)
			create(t, admin, g)
			got := make([][]int64, 9)
			var sessions sync.WaitGroup
			for i := range got[1:] {
				conn := connect(t, dsn)
				sessions.Go(func() { got[i+1] = fetch(t, conn, 10) })
			}
			gen, err := sqlstore.Open(t.Context(), openDB(t, dsn), worker.Config{Namespace: "orders"})
			must(t, err)
			defer gen.Close(context.Background())
			got[0] = make([]int64, 0, 20_000)
			for range cap(got[0]) {
				id, err := gen.Next(t.Context())
				must(t, err)
				got[0] = append(got[0], id)
			}
			sessions.Wait()
			var found ids
			for _, of := range got {
				var last int64
				found.add(t, &last, of...)
			}
			t.Logf("%d ids", len(found.seen))
			for id := range found.seen {
				parts, err := core.Twitter().Decode(id)
				if of := parts.Datacenter<<5 | parts.Worker; err != nil || of != 0 && !slices.Contains(append(g.Workers, 1023), of) {
					t.Fatalf("%d: %+v, %v", id, parts, err)
				}
			}
		})
	}
}

// fetch takes single ids and many in turn, and checks the times of the single ones. It may
// run in a goroutine.
func fetch(t *testing.T, conn *pgx.Conn, rounds int) (got []int64) {
	for range rounds {
		var id int64
		if err := conn.QueryRow(t.Context(), next).Scan(&id); err != nil {
			t.Error(err)
			return got
		}
		near(t, id, 5*time.Second, 0) // what is late is this test
		rows, _ := conn.Query(t.Context(), many)
		more, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			t.Error(err)
			return got
		}
		got = append(append(got, id), more...)
	}
	return got
}

func openDB(t testing.TB, dsn string) *sql.DB { return engines.Open(t, ddl.Postgres, dsn).DB }
