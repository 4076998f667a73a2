package worker_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// late makes the first claim's answer come at a given time, whatever its context says. It
// is carried out, and so found again by the claim that is made in its place, or the other
// way round.
func (w *world) late(at time.Duration) {
	first := true
	w.store.after = func(_ worker.Request, c worker.Claim, err error) (worker.Claim, error) {
		w.store.mu.Lock()
		late := first
		first = false
		w.store.mu.Unlock()
		if late {
			time.Sleep(at)
		}
		return c, err
	}
}

// fill draws ids for a span that is longer than what has passed, and looks for twins.
func (w *world) fill(gen *core.Generator, span time.Duration) {
	w.Helper()
	ids := make([]int64, span.Milliseconds()<<testLayout.SequenceBits)
	if err := gen.Fill(w.Context(), ids); err != nil {
		w.Fatal(err)
	}
	for _, id := range ids {
		if w.ids[id] {
			p, _ := testLayout.Decompose(id)
			w.Fatalf("%+v was issued twice", p)
		}
		w.ids[id] = true
	}
}

// A claim that was repeated because its answer was late is answered twice. The second
// answer brings nothing: ids of its span have been issued.
func TestClaimAnsweredTwice(t *testing.T) {
	t.Run("next generator", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.late(8 * time.Second)
			lease := w.acquire(nil)
			gen := w.generator(lease, nil)
			w.fill(gen, 9*time.Second)
			_ = gen.Close()
			time.Sleep(6 * time.Second)
			w.fill(w.generator(lease, nil), 3*time.Second)
			if st := lease.Stats(); st.Claims != 1 {
				t.Errorf("%+v", st)
			}
		})
	})
	t.Run("next generator, after a renewal", func(t *testing.T) {
		inWorld(t, func(w *world) {
			store := &deaf{Store: w.mem}
			answer := store.hang()
			defer answer()
			w.store.Store = store
			time.AfterFunc(3*time.Second, func() { store.set(nil) }) // the repetition is answered
			lease := w.acquire(func(cfg *worker.Config) { cfg.MaxSkew = time.Minute })
			time.Sleep(20 * time.Second)
			gen := w.generator(lease, nil)
			w.fill(gen, 9*time.Second)
			_ = gen.Close()
			answer()
			time.Sleep(time.Second)
			w.fill(w.generator(lease, nil), 3*time.Second)
		})
	})
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
			other, err := w.keep(worker.Acquire(w.Context(), w.mem, w.cfg))
			if err != nil {
				t.Fatal(err)
			}
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
				other, err := w.keep(worker.Acquire(w.Context(), w.mem, w.cfg))
				if err != nil {
					t.Fatal(err)
				}
				others = append(others, w.generator(other, nil))
			}
			w.steal(lease.Worker())
			for time.Sleep(time.Second); lease.Stats().State != "lost"; time.Sleep(100 * time.Millisecond) {
			}
			time.Sleep(20 * time.Second)
			if n := lease.Worker(); slices.ContainsFunc(others, func(g *core.Generator) bool { return g.Stats().Worker == n }) {
				t.Errorf("two have number %d: %+v", n, lease.Stats())
			}
		})
	})
}
