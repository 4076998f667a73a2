package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
)

// brisk is a lease that ends soon.
var brisk = worker.Config{FenceWindow: 900 * time.Millisecond, MaxWait: 100 * time.Millisecond}

// If the program uses up its pool of pgx for longer than the lease lasts, each error says so. When a
// connection is free, ids continue, under another worker ID if the first was taken. A lease keeps
// no connection, and does not close the pool.
func TestPoolUsedUp(t *testing.T) {
	e, seen := newPostgres(t), &failures{}
	cfg := brisk
	cfg.Observer = seen
	pool := e.pgx(t, 1)
	gen, err := pgxstore.Open(t.Context(), pool, cfg)
	must(t, err)
	defer gen.Close(context.Background())
	for gen.Stats().Renewals < 2 { // next to the program, on one connection
		_, err := pool.Exec(t.Context(), "SELECT pg_sleep(0.01)")
		must(t, err)
	}
	before := gen.Worker()
	conn, err := pool.Acquire(t.Context())
	must(t, err)
	says := func(err error) bool {
		return errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "all connections of the pool are in use (1 of 1): give the lease its own pool, or raise MaxConns")
	}
	// On a busy machine, some answers are late.
	await(t, "id that fails, and why", func() bool { _, err = gen.Next(t.Context()); return says(err) })
	await(t, "reason in Failing, and in an event", func() bool { return says(gen.Failing()) && slices.ContainsFunc(seen.all(), says) })
	rival := brisk
	rival.Preferred, rival.RequirePreferred, rival.ClaimWait = &before, true, patience
	other, err := pgxstore.Open(t.Context(), e.pgx(t, 1), rival)
	must(t, err)
	defer other.Close(context.Background())
	conn.Release()
	await(t, "id", func() bool { _, err := gen.Next(t.Context()); return err == nil })
	if st := gen.Stats(); gen.Failing() != nil || st.Worker == before || st.Losses != 1 {
		t.Errorf("%v, %+v", gen.Failing(), st)
	}
	must(t, gen.Close(t.Context()))
	_, err = pool.Exec(t.Context(), "SELECT 1")
	must(t, err)
	pool.Close() // waits for connections that are in use
	if _, err := pgxstore.Open(t.Context(), pool, worker.Config{}); err == nil || !strings.Contains(err.Error(), "closed pool") {
		t.Errorf("%v", err)
	}
}

// failures are the errors of a lease's renewals.
type failures struct {
	mu   sync.Mutex
	errs []error
}

func (f *failures) Observe(e core.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Kind == worker.RenewFailed {
		f.errs = append(f.errs, e.Err)
	}
}

func (f *failures) all() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errs
}
