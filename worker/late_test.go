package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// late makes the first claim's answer come at a given time, whatever its context says. It
// is carried out, and so found again by the claim that is made in its place, or the other
// way round.
func (w *world) late(at time.Duration) {
	first := true
	w.store.after = func(_ driver.Request, c driver.Claim, err error) (driver.Claim, error) {
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

// fill draws ids for longer than what has passed, and looks for duplicates.
func (w *world) fill(gen *core.Generator, span time.Duration) {
	w.Helper()
	ids := make([]int64, span.Milliseconds()<<testLayout.SequenceBits)
	if err := gen.Fill(w.Context(), ids); err != nil {
		w.Fatal(err)
	}
	for _, id := range ids {
		if w.ids[id] {
			p, _ := testLayout.Decode(id)
			w.Fatalf("%+v was issued twice", p)
		}
		w.ids[id] = true
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
				t.Errorf("two have worker ID %d: %+v", n, lease.Stats())
			}
		})
	})
}

// While two requests are unanswered no other is made, and no call waits for one: what would
// be asked counts as not answered.
func TestTwoRequestsUnanswered(t *testing.T) {
	within := func(w *world, limit time.Duration, call func() error) {
		w.Helper()
		done := make(chan error, 1)
		go func() { done <- call() }()
		select {
		case err := <-done:
			if err == nil || !errors.Is(err, context.DeadlineExceeded) {
				w.Errorf("%v", err)
			}
		case <-time.After(limit):
			w.Errorf("no answer in %v", limit)
		}
	}
	deafWorld := func(t *testing.T, f func(w *world, store *deaf)) {
		inWorld(t, func(w *world) {
			store := &deaf{Store: w.mem}
			w.store.Store = store
			f(w, store)
		})
	}
	t.Run("Acquire", func(t *testing.T) {
		deafWorld(t, func(w *world, store *deaf) {
			defer store.hang()()
			w.cfg.FenceWindow = 3 * time.Second // and Timeout 1s
			within(w, 7*time.Second, func() error { _, err := worker.Acquire(context.Background(), w.store, w.cfg); return err })
		})
	})
	t.Run("Release", func(t *testing.T) {
		deafWorld(t, func(w *world, store *deaf) {
			lease := w.acquire(nil)
			defer store.hang()()
			time.Sleep(20 * time.Second)
			within(w, 9*time.Second, func() error { return lease.Release(context.Background()) })
		})
	})
	t.Run("Release after a loss", func(t *testing.T) {
		deafWorld(t, func(w *world, store *deaf) {
			lease := w.acquire(nil)
			w.steal(lease.Worker())
			for range 3 {
				if _, err := w.keep(worker.Acquire(w.Context(), w.mem, w.cfg)); err != nil {
					t.Fatal(err)
				}
			}
			hangs := make(chan func(), 1)
			hang := sync.OnceFunc(func() { hangs <- store.hang() })
			w.store.set(func(f *flaky) {
				f.after = func(_ driver.Request, c driver.Claim, err error) (driver.Claim, error) {
					hang()
					return c, err
				}
			})
			answer := <-hangs
			defer answer()
			time.Sleep(time.Second)
			within(w, 9*time.Second, func() error { return errors.Join(lease.Release(context.Background()), context.DeadlineExceeded) })
		})
	})
	t.Run("Rotate", func(t *testing.T) {
		deafWorld(t, func(w *world, store *deaf) {
			lease := w.acquire(nil)
			gen := w.generator(lease, core.Rotate{})
			w.mustDraw(gen)
			defer store.hang()()
			time.Sleep(20 * time.Second)
			w.ahead.Add(-int64(time.Minute))
			if _, err := w.draw(gen); !errors.As(err, new(*worker.RetryError)) {
				t.Errorf("%v", err)
			}
		})
	})
	t.Run("Stats", func(t *testing.T) {
		deafWorld(t, func(w *world, store *deaf) {
			lease := w.acquire(nil)
			answer := store.hang()
			defer answer()
			time.Sleep(time.Minute)
			if st := lease.Stats(); st.FencedSince.IsZero() || st.Failing == nil || w.seen.count(worker.Fenced) != 1 {
				t.Errorf("%+v", st)
			}
			answer()
			time.Sleep(time.Second)
			if st := lease.Stats(); !st.FencedSince.IsZero() || st.Failing != nil || w.seen.count(worker.Resumed) != 1 {
				t.Errorf("%+v", st)
			}
		})
	})
}
