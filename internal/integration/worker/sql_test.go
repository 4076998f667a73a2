package worker

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
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
		storetest.Run(t, storetest.Harness{Open: func(t *testing.T) driver.Store {
			db := e.open(t)
			if strings.Contains(t.Name(), "/re") { // read committed, renew, repeated: a few parts, since each dials a lot
				db.SetMaxIdleConns(-1)
			}
			return mustNew(sqlstore.New(db, lossy))
		}})
	})
}

// Processes that start at the same time, on a database without tables, have one worker ID each, in
// whichever way they open it, and no id twice.
func TestManyStarts(t *testing.T) {
	onServers(t, func(t *testing.T, e engine) {
		const starts = 12
		cfg := leasing(worker.Config{ClaimWait: patience, Timeout: patience})
		ways := []func() (*worker.Generator, error){
			func() (*worker.Generator, error) { return sqlstore.Open(t.Context(), e.open(t), cfg) },
			func() (*worker.Generator, error) { return use(e.gorm(t), gormplugin.Config{Store: cfg}) },
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

// The statements of DDL make what a store finds by itself, also where it is there.
func TestDetectedAndNamed(t *testing.T) {
	onServers(t, func(t *testing.T, e engine) {
		cfg := sqlstore.Config{Dialect: e.dialect, Table: "Numbers_of_Order", AllowDataLoss: true, NoCreate: true}
		ddl, err := cfg.DDL()
		must(t, err)
		db := e.open(t)
		_, columns, _ := strings.Cut(ddl[0], " (")
		if err := acquire(t, mustNew(sqlstore.New(db, cfg)), once); err == nil || !strings.Contains(err.Error(), columns) {
			t.Errorf("%v", err)
		}
		mustExec(t, db, append(ddl, ddl...)...)
		cfg.Dialect = sqlstore.Detect
		lease, err := worker.Open(t.Context(), mustNew(sqlstore.New(db, cfg)), worker.Config{Owner: "Käthe's 🖥 host", Timeout: patience, ClaimWait: patience})
		must(t, err)
		rows, err := mustNew(sqlstore.New(db, cfg)).List(t.Context(), "default")
		if err != nil || len(rows) != 1 || rows[0].Owner != "Käthe's 🖥 host" || rows[0].Worker != lease.Worker() {
			t.Errorf("%+v, %v", rows, err)
		}
		must(t, lease.Close(context.Background()))
	})
}
