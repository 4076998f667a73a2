package worker_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// late makes the first claim's answer come at a given time, whatever its context says. It
// is carried out, and so found again by the claim that is made in its place, or the other
// way round.
func (w *world) late(at time.Duration) {
	var answered atomic.Bool
	w.store.after = func(_ driver.Claim, c driver.Lease, err error) (driver.Lease, error) {
		if !answered.Swap(true) {
			time.Sleep(at)
		}
		return c, err
	}
}

// fill draws ids for longer than what has passed, and looks for duplicates.
func (w *world) fill(gen *core.Generator, span time.Duration) {
	w.Helper()
	ids := make([]int64, span.Milliseconds()<<testLayout.SequenceBits)
	if err := gen.Fill(w.Context(), ids); err != nil {
		w.Fatal(err)
	}
	for _, id := range ids {
		w.issued(id)
	}
}

// A claim that was repeated because its answer was late is answered twice. The second
// answer brings nothing: ids of its interval have been issued.
func TestClaimAnsweredTwice(t *testing.T) {
	t.Run("after Release has failed", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.late(8 * time.Second)
			lease := w.acquire(nil)
			w.fill(w.generator(lease, nil), 9*time.Second)
			w.store.set(func(f *flaky) { f.down = errNetwork })
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			if err := lease.Release(ctx); err == nil {
				t.Fatal("released")
			}
			w.store.set(func(f *flaky) { f.down = nil })
			time.Sleep(5 * time.Second)
			other := w.acquireFrom(w.mem, w.cfg)
			w.fill(w.generator(other, nil), 3*time.Second)
		})
	})
	t.Run("after its worker ID was given to another", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.late(25 * time.Second)
			lease := w.acquire(nil)
			gen := w.generator(lease, core.Rotate{})
			w.mustDraw(gen)
			w.ahead.Add(-int64(time.Second))
			w.mustDraw(gen) // under another worker ID
			time.Sleep(time.Second)
			others := []*core.Generator{}
			for range 3 {
				other := w.acquireFrom(w.mem, w.cfg)
				others = append(others, w.generator(other, nil))
			}
			w.steal(lease.Worker())
			for time.Sleep(time.Second); lease.Stats().State != "lost"; time.Sleep(100 * time.Millisecond) {
			}
			time.Sleep(20 * time.Second)
			if n := lease.Worker(); slices.ContainsFunc(others, func(g *core.Generator) bool { return g.Stats().Worker == n }) {
				t.Errorf("two have worker ID %d: %+v", n, lease.Stats())
			}
		})
	})
}
