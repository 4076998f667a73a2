package worker

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// A store does not depend on a session: in some modes, each statement runs in another one, as behind
// a pooler in transaction mode.
func TestSQLStore(t *testing.T) {
	onServers(t, func(t *testing.T, e engine) {
		admin := open(t, e.driver, e.plain)
		storetest.Run(t, storetest.Config{
			Open: func(t *testing.T) driver.Store {
				db := e.open(t)
				if strings.Contains(t.Name(), "/re") { // read committed, renew, repeated: a few parts, since each dials a lot
					db.SetMaxIdleConns(-1)
				}
				return engines.MustNew(sqlstore.New(db, lossy))
			},
			Put: func(t *testing.T, st driver.State) { put(t, admin, st) },
		})
	})
}

// put replaces what the tables have of a namespace, as an operator would.
func put(t *testing.T, db *sql.DB, st driver.State) {
	t.Helper()
	ns := st.Namespace
	written := engines.WriteNamespace(ns)
	if st.Missing { // and the index, or it would not rise again so soon
		written[1] = "DELETE FROM snow_namespace WHERE namespace = '*'"
	}
	mustExec(t, db, "DELETE FROM snow_lease WHERE namespace = '"+ns.Name+"'", written[0], written[1])
	for _, r := range st.Records {
		mustExec(t, db, fmt.Sprintf("INSERT INTO snow_lease (namespace, worker_id, claim_id, fencing_token, start, fence, owner, state) VALUES ('%s', %d, '%s', %d, %d, %d, '%s', '%s')",
			ns.Name, r.Worker, r.ClaimID, r.FencingToken, r.Start, r.Fence, r.Owner, r.Status))
	}
}

// Processes that start at the same time, on a database without tables, have one worker ID each, in
// whichever way they open it, and no id twice.
func TestManyStarts(t *testing.T) {
	onServers(t, func(t *testing.T, e engine) {
		const starts = 12
		cfg := worker.Config{ClaimWait: patience, Timeout: patience}
		ways := []func() (*worker.Generator, error){
			func() (*worker.Generator, error) { return sqlstore.Open(t.Context(), e.open(t), cfg) },
			func() (*worker.Generator, error) { return use(e.gorm(t), gormplugin.Config{Lease: cfg}) },
		}
		if e.driver == "pgx" {
			ways = append(ways, func() (*worker.Generator, error) { return pgxstore.Open(t.Context(), e.pgx(t, 2), cfg) })
		}
		var ids idSet
		workers := map[int64]bool{}
		for _, gen := range together(t, starts, func(i int) (*worker.Generator, error) {
			gen, err := ways[i%len(ways)]()
			if err == nil {
				err = ids.draw(gen, 1000)
			}
			return gen, err
		}) {
			workers[gen.Worker()] = true
			must(t, gen.Close(context.Background()))
		}
		if ids.check(t); len(workers) != starts {
			t.Errorf("%d worker IDs", len(workers))
		}
	})
}
