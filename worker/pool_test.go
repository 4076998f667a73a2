package worker_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A worker ID that does not expire stays leased, however long its holder is gone, until it
// is released or an operator frees it. Then the holder is harmless.
func TestNoExpiry(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Preferred, w.cfg.RequirePreferred, w.cfg.ClaimWait, w.cfg.NoExpiry = ref(int64(2)), true, -1, true
		lease := w.acquire(nil)
		w.mustDraw(w.generator(lease, nil))
		if err := lease.Close(); err != nil {
			t.Fatal(err)
		}
		gen := w.generator(w.acquire(nil), nil)
		if synctest.Wait(); w.record(2).Status != driver.Kept { // by a renewal at once
			t.Errorf("%+v", w.record(2))
		}
		w.mustDraw(gen)
		w.store.set(func(f *flaky) { f.down = errNetwork }) // it is cut off
		time.Sleep(3 * time.Hour)
		for _, w.cfg.NoExpiry = range []bool{false, true} {
			if _, err := w.keep(worker.Acquire(w.Context(), w.mem, w.cfg)); !errors.Is(err, worker.ErrNoWorkerID) {
				t.Fatalf("after hours: %v", err)
			}
		}
		w.free(2)
		next := w.generator(w.acquireFrom(w.mem, w.cfg), nil)
		w.mustDraw(next)
		if p, err := w.draw(gen); err == nil {
			t.Errorf("the one cut off issued %+v", p)
		}
		w.mustDraw(next)
	})
}
