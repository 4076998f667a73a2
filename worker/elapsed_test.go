package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Events of requests say how long the store took; other events do not.
func TestElapsed(t *testing.T) {
	const slow, down = 40 * time.Millisecond, 2 * time.Second
	inWorld(t, func(w *world) {
		w.store.set(func(f *flaky) { f.slow = slow })
		var log events
		lease := w.acquire(func(cfg *worker.Config) { cfg.Observer = &log })
		time.Sleep(15 * time.Second)
		w.store.set(func(f *flaky) { f.down, f.slow = errNetwork, down })
		time.Sleep(time.Minute)
		w.store.set(func(f *flaky) { f.down, f.slow = nil, slow })
		time.Sleep(5 * time.Second)
		if err := lease.Release(w.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[core.EventKind]time.Duration{
			worker.Claimed: slow, worker.Renewed: slow, worker.RenewFailed: down, worker.Fenced: 0, worker.Resumed: 0, worker.Released: slow,
		}
		for _, e := range log.all() {
			if d, ok := want[e.Kind]; !ok || e.Elapsed != d {
				t.Errorf("%s has Elapsed %v, want %v", e.Kind, e.Elapsed, d)
			}
		}
		for kind := range want {
			if log.count(kind) == 0 {
				t.Errorf("%s was not reported", kind)
			}
		}
	})
}

// When Release returns, even a slow observer has received all events.
func TestReleaseIsObserved(t *testing.T) {
	inWorld(t, func(w *world) {
		var log events
		lease := w.acquire(func(cfg *worker.Config) { cfg.Observer = observers{lingering(time.Millisecond), &log} })
		if err := lease.Release(w.Context()); err != nil {
			t.Fatal(err)
		}
		if got := log.all(); len(got) != 2 || got[0].Kind != worker.Claimed || got[1].Kind != worker.Released {
			t.Errorf("%v", got)
		}
	})
}

// An observer that does not return does not delay Release beyond its context.
func TestReleaseWithoutObserver(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(func(cfg *worker.Config) { cfg.Observer = lingering(time.Hour) })
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_ = lease.Release(ctx)
		if d := time.Since(began); d > time.Second {
			t.Errorf("it took %v", d)
		}
		time.Sleep(3 * time.Hour)
	})
}

// An observer may release the lease when it is lost, also while requests of the lease are to follow.
func TestObserverReleases(t *testing.T) {
	for name, unanswered := range map[string]bool{"nothing to release": false, "a claim without an answer": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var lease *worker.Lease
				released := make(chan error, 1)
				lease = w.acquire(func(cfg *worker.Config) {
					cfg.Observer = observerFunc(func(e core.Event) {
						if e.Kind == worker.Lost {
							released <- lease.Release(context.Background())
						}
					})
				})
				gen := w.generator(lease, core.Rotate{})
				first := w.mustDraw(gen).Worker
				if unanswered {
					w.store.after = func(_ driver.Claim, c driver.Lease, err error) (driver.Lease, error) {
						return c, errors.Join(err, errNetwork)
					}
					w.ahead.Add(-int64(time.Second))
					_, _ = w.draw(gen)
				}
				w.steal(first)
				time.Sleep(time.Minute)
				w.store.set(func(f *flaky) { f.after = nil })
				time.Sleep(time.Minute)
				select {
				case err := <-released:
					if err != nil && !unanswered {
						t.Error(err)
					}
				default:
					t.Error("Release has not returned")
				}
			})
		})
	}
}

type observerFunc func(core.Event)

func (f observerFunc) Observe(e core.Event) { f(e) }

// lingering is an observer that takes this long for each event.
type lingering time.Duration

func (p lingering) Observe(core.Event) { time.Sleep(time.Duration(p)) }

// A released lease reports neither that ids continue, nor that they have stopped at a fence, nor that
// something fails.
func TestStatsOfReleased(t *testing.T) {
	inWorld(t, func(w *world) {
		for name, outage := range map[string]time.Duration{"no outage": 0, "a short outage": 15 * time.Second, "a long outage": time.Minute} {
			lease := w.acquire(func(*worker.Config) {})
			gen := w.generator(lease, nil)
			w.mustDraw(gen)
			w.store.set(func(f *flaky) { f.down = errNetwork })
			time.Sleep(outage)
			_, _ = gen.Next(w.Context())
			w.store.set(func(f *flaky) { f.down = nil })
			if err := lease.Release(w.Context()); err != nil {
				t.Fatal(err)
			}
			if st := lease.Stats(); st.State != "ended" || st.FenceLeft != 0 || st.Failing != nil || !st.Since.IsZero() || !st.FencedSince.IsZero() {
				t.Errorf("after %s: %+v", name, st)
			}
		}
	})
}
