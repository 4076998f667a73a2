package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// A worker ID that does not expire stays leased, however long its holder is gone, until it
// is released or an operator frees it. Then the holder is harmless.
func TestNoExpiry(t *testing.T) {
	inWorld(t, func(w *world) {
		take := func(id int64) *worker.Lease {
			t.Helper()
			cfg := w.cfg
			cfg.Preferred, cfg.RequirePreferred, cfg.ClaimWait = &id, true, -1
			cfg.NoExpiry = true
			lease, err := w.keep(worker.Acquire(w.Context(), w.store, cfg))
			if err != nil {
				t.Fatal(err)
			}
			return lease
		}
		lease := take(2)
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		if err := lease.Close(); err != nil {
			t.Fatal(err)
		}
		lease = take(2)
		gen = w.generator(lease, nil)
		w.mustDraw(gen)
		w.store.set(func(f *flaky) { f.down = errNetwork }) // it is cut off
		time.Sleep(3 * time.Hour)
		cfg := w.cfg
		cfg.Preferred, cfg.RequirePreferred, cfg.ClaimWait = ref(int64(2)), true, -1
		if _, err := w.keep(worker.Acquire(w.Context(), w.mem, cfg)); !errors.Is(err, worker.ErrNoWorkerID) {
			t.Fatalf("after hours: %v", err)
		}
		if err := w.mem.Free(w.Context(), "default", 2, w.record(2).FencingToken); err != nil {
			t.Fatal(err)
		}
		cfg.NoExpiry = true
		next, err := w.keep(worker.Acquire(w.Context(), w.mem, cfg))
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		nextGen := w.generator(next, nil)
		w.mustDraw(nextGen)
		if p, err := w.draw(gen); err == nil {
			t.Errorf("the one cut off issued %+v", p)
		}
		w.mustDraw(nextGen)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = lease.Release(ctx)
	})
}
