package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// leap lets the wall clocks of the machine and of the store leap ahead, as when the
// machine has slept.
func (w *world) leap(by time.Duration) {
	w.ahead.Add(int64(by))
	w.storeAhead.Add(int64(by))
}

// draws takes an id every 100ms for the given time, and wants each one at once.
func (w *world) draws(gen *core.Generator, lasts time.Duration) {
	w.Helper()
	for began := time.Now(); time.Since(began) < lasts; time.Sleep(100 * time.Millisecond) {
		asked := time.Now()
		if w.mustDraw(gen); time.Since(asked) > 50*time.Millisecond {
			w.Fatalf("an id took %v, after %v", time.Since(asked), asked.Sub(began))
		}
	}
}

// caughtUp checks that ids have the wall clock's time, and that nothing fails.
func (w *world) caughtUp(lease *worker.Lease) {
	w.Helper()
	if behind := w.now().Sub(w.last.Time); behind > time.Second {
		w.Errorf("ids are %v behind", behind)
	}
	if st := lease.Stats(); st.Losses > 0 || st.State != "held" || st.Failing != nil || !st.FencedSince.IsZero() {
		w.Errorf("%+v", st)
	}
}

// The machine wakes up, and each request takes 1.2s, which is longer than a call waits.
// Ids continue all the same, and have the new time after the next renewal: whether the
// claim has expired meanwhile or, with NoExpiry, has not.
func TestLeapOverASlowStore(t *testing.T) {
	for name, noExpiry := range map[string]bool{"expired": false, "held": true} {
		for _, asleep := range []time.Duration{61 * time.Second, time.Hour, 1000 * time.Hour} {
			t.Run(name+" "+asleep.String(), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.store.slow = 1200 * time.Millisecond
					w.cfg.NoExpiry = noExpiry
					lease := w.acquireFrom(w.store, w.cfg)
					gen := w.generator(lease, nil)
					w.draws(gen, 30*time.Second)
					w.leap(asleep)
					w.draws(gen, 15*time.Second)
					w.caughtUp(lease)
					w.draws(gen, 3*time.Minute)
					if st := lease.Stats(); st.Failures > 0 || w.seen.count(worker.Fenced) > 0 {
						t.Errorf("%+v, %v", st, w.seen.all())
					}
				})
			})
		}
	}
}

// A clock that jumps ahead of the store's is not followed: ids continue on the monotonic
// clock, however long it lasts, and also after an outage in that time.
func TestClockLeapsAhead(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		w.ahead.Add(int64(24 * time.Hour))
		w.draws(gen, 10*time.Minute)
		if d := time.Since(w.last.Time); d > time.Second || d < -time.Second {
			t.Errorf("ids are %v off", d)
		}
		if fence := w.fence(w.last.Worker); fence.After(time.Now().Add(time.Minute)) {
			t.Errorf("the fence was raised to %v", fence)
		}
		if st := lease.Stats(); st.Failing != nil || st.State != "held" || st.FenceLeft < 15*time.Second || len(w.store.claims) != 1 || w.seen.count(worker.Fenced) > 0 {
			t.Errorf("%+v, %v", st, w.seen.all())
		}
		w.store.set(func(f *flaky) { f.down = errNetwork })
		time.Sleep(time.Minute)
		if _, err := w.draw(gen); !errors.Is(err, core.ErrFenced) || !errors.Is(err, errNetwork) {
			t.Errorf("%v", err)
		}
		w.store.set(func(f *flaky) { f.down = nil })
		time.Sleep(time.Second)
		w.draws(gen, time.Minute)
		w.ahead.Store(0)
		time.Sleep(time.Second)
		w.draws(gen, time.Minute)
		w.caughtUp(lease)
	})
}

// The worker ID was taken while the machine slept: that is a loss, and ids continue.
func TestLeapAfterALoss(t *testing.T) {
	inWorld(t, func(w *world) {
		w.store.slow = 1200 * time.Millisecond
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		first := w.mustDraw(gen)
		w.leap(time.Hour)
		thief, err := w.keep(worker.Acquire(w.Context(), w.mem, worker.Config{Layout: testLayout, Now: w.now, Preferred: ref(int64(0)), RequirePreferred: true, ClaimWait: -1}))
		if err != nil || thief.Worker() != first.Worker {
			t.Fatalf("%v: the test shows nothing", err)
		}
		w.draws(gen, 15*time.Second)
		if st := lease.Stats(); st.Losses != 1 || st.Worker == first.Worker || w.now().Sub(w.last.Time) > time.Second {
			t.Errorf("%+v, %+v", st, w.last)
		}
	})
}

// A worker ID that was claimed for a generator is kept until the generator asks again. Otherwise a
// generator that rarely asks would never get one from a store slower than its MaxWait. It is used at
// the fence, and the previous one is released.
func TestRotateThatIsNotFetched(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.FenceWindow, w.cfg.MaxSkew = 40*time.Second, 20*time.Second
		lease := w.acquire(nil)
		gen := w.generator(lease, core.Rotate{})
		first := w.mustDraw(gen)
		w.store.set(func(f *flaky) { f.slow = 1200 * time.Millisecond })
		w.ahead.Add(-int64(8 * time.Second))
		if _, err := w.draw(gen); err == nil {
			t.Fatal("the test shows nothing")
		}
		time.Sleep(6 * time.Second)
		second := w.mustDraw(gen) // its clock is behind yet
		if second.Worker == first.Worker {
			t.Errorf("%+v", second)
		}
		time.Sleep(time.Millisecond) // not at the instant of the last claim, whose delay would apply
		w.ahead.Add(-int64(8 * time.Second))
		if _, err := w.draw(gen); err == nil {
			t.Fatal("the test shows nothing")
		}
		w.ahead.Add(int64(16 * time.Second)) // now it needs no other
		for range 60 {
			time.Sleep(time.Second)
			w.mustDraw(gen)
		}
		if w.held() != 1 || w.record(second.Worker).Status != driver.Released {
			t.Errorf("%d are held, the second is %+v", w.held(), w.record(second.Worker))
		}
	})
}
