package worker

import (
	"context"
	"database/sql"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// killed is a store whose holders die: the release of their worker IDs does not reach it.
type killed struct{ driver.Store }

func (killed) Release(context.Context, driver.Release) error { return driver.ErrNotHeld }

// Processes that live for a moment, such as functions and jobs, have one namespace: each connects,
// makes ids, and ends, one in ten without releasing its worker ID. All get ids, and no id is made twice.
// SNOWKEY_TEST_PROCESSES sets how many there are. 10,000 a minute, of which 1,000 die, hold 667 worker
// IDs, because a worker ID is free 40 seconds after its holder has died.
func TestShortProcesses(t *testing.T) {
	const atOnce = 8
	n := 600
	if text := os.Getenv("SNOWKEY_TEST_PROCESSES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	first := engines.MustNew(sqlstore.Open(t.Context(), open(t, "pgx", dsn), worker.Config{})) // creates the tables
	must(t, first.Close(t.Context()))

	var mu sync.Mutex
	seen := map[int64]bool{}
	var slowest time.Duration
	work := make(chan int)
	var done sync.WaitGroup
	for range atOnce {
		done.Go(func() {
			for i := range work {
				ids, took, err := shortProcess(t.Context(), dsn, i%10 == 0)
				mu.Lock()
				if err != nil {
					t.Error(i, err)
				}
				slowest = max(slowest, took)
				for _, id := range ids {
					if seen[id] {
						t.Errorf("the id %d was made twice", id)
					}
					seen[id] = true
				}
				mu.Unlock()
			}
		})
	}
	began := time.Now()
	for i := range n {
		work <- i
	}
	close(work)
	done.Wait()
	t.Logf("%d processes in %v, %d ids; the slowest had its first id after %v", n, time.Since(began).Round(time.Millisecond), len(seen), slowest)
}

// shortProcess does what a process does in its life, with a connection like that of no other one.
func shortProcess(ctx context.Context, dsn string, dies bool) (ids []int64, first time.Duration, err error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = db.Close() }()
	began := time.Now()
	var store driver.Store
	if store, err = sqlstore.New(db, sqlstore.Config{}); err != nil {
		return nil, 0, err
	}
	if dies {
		store = killed{store}
	}
	gen, err := worker.Open(ctx, store, worker.Config{})
	if err != nil {
		return nil, 0, err
	}
	ids = make([]int64, 6)
	if ids[0], err = gen.Next(ctx); err != nil {
		return nil, 0, err
	}
	first = time.Since(began)
	if err := gen.Fill(ctx, ids[1:]); err != nil {
		return nil, 0, err
	}
	return ids, first, gen.Close(ctx)
}
