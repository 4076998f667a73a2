package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func TestALeaseIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		for range 3 * 3600 {
			if p := w.mustDraw(gen); p.Worker != lease.Worker() {
				t.Fatalf("%+v under worker ID %d", p, lease.Worker())
			}
			time.Sleep(time.Second)
		}
		st := lease.Stats()
		if st.Renewals < 1080 || st.Renewals > 1210 || st.Failures+st.Losses > 0 || st.Claims != 1 || st.Failing != nil || st.Namespace != "default" {
			t.Errorf("after three hours: %+v", st)
		}
		if st.FenceLeft < 19*time.Second || st.FenceLeft > 30*time.Second || !st.Fence.Equal(w.fence(st.Worker)) {
			t.Errorf("%v left, until %v, recorded is %v", st.FenceLeft, st.Fence, w.fence(st.Worker))
		}
		if lease.Err() != nil || w.seen.count(worker.Renewed) != int(st.Renewals) || w.seen.count(worker.Claimed) != 1 {
			t.Errorf("%v, %v", lease.Err(), w.seen.all())
		}
	})
}

// The store fails: ids continue for FenceWindow − RenewInterval, then there is an error,
// and ids resume when the store is back.
func TestOutage(t *testing.T) {
	for name, fault := range map[string]func(*flaky){
		"refused": func(f *flaky) { f.down = errNetwork },
		"silent":  func(f *flaky) { f.slow = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				lease := w.acquire(nil)
				gen := w.generator(lease, nil)
				time.Sleep(100*time.Second + 17*time.Millisecond)
				w.mustDraw(gen)
				w.store.set(fault)
				began, tried := time.Now(), len(w.store.tries())
				for time.Since(began) < 20*time.Second {
					w.mustDraw(gen)
					time.Sleep(50 * time.Millisecond)
				}
				var err error
				for err == nil && time.Since(began) < time.Minute {
					time.Sleep(50 * time.Millisecond)
					_, err = w.draw(gen)
				}
				if !errors.Is(err, core.ErrFenced) || time.Since(began) > 40*time.Second {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				time.Sleep(5 * time.Minute)
				if st := lease.Stats(); st.Failing == nil || st.Failures == 0 || st.FenceLeft != 0 || st.Losses != 0 {
					t.Errorf("%+v", st)
				}
				renewals := w.store.tries()
				for i := tried + 2; i < len(renewals); i++ {
					limit := 500 * time.Millisecond
					if name == "silent" {
						limit += 3 * time.Second
					}
					if d := renewals[i].Sub(renewals[i-1]); d > limit {
						t.Errorf("%v between two tries", d)
					}
				}
				w.store.set(func(f *flaky) { f.down, f.slow = nil, 0 })
				time.Sleep(4 * time.Second)
				for range 100 {
					w.mustDraw(gen)
				}
				if st := lease.Stats(); st.Failing != nil || st.Losses != 0 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

// Another holder takes the worker ID: the generator continues under another one.
func TestLoss(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		first := w.mustDraw(gen)
		w.steal(first.Worker)
		for range 120 {
			time.Sleep(100 * time.Millisecond)
			asked := time.Now()
			w.mustDraw(gen)
			if d := time.Since(asked); d > 0 {
				t.Fatalf("an id took %v", d)
			}
		}
		if w.last.Worker == first.Worker || w.last.Worker != lease.Worker() {
			t.Errorf("the last id is %+v", w.last)
		}
		if st := lease.Stats(); st.Losses != 1 || st.Claims != 2 || lease.Err() != nil {
			t.Errorf("%+v, %v", st, lease.Err())
		}
		if w.seen.count(worker.Lost) != 1 || w.seen.count(worker.Claimed) != 2 {
			t.Errorf("%v", w.seen.all())
		}
	})
}

// All worker IDs are leased: ids continue up to the fence, and resume when one is free.
func TestLossWithoutAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		for range 3 {
			w.acquire(nil)
		}
		first := w.mustDraw(gen)
		fence := w.steal(first.Worker)
		var err error
		for err == nil {
			time.Sleep(10 * time.Millisecond)
			_, err = w.draw(gen)
		}
		if !errors.Is(err, core.ErrFenced) || w.last.Time.Before(fence.Add(-20*time.Millisecond)) {
			t.Errorf("%v, the last id is of %v, the fence is %v", err, w.last.Time, fence)
		}
		if w.seen.count(worker.ClaimFailed) == 0 {
			t.Errorf("%v", w.seen.all())
		}
		w.leave(first.Worker)
		time.Sleep(time.Second)
		w.mustDraw(gen)
	})
}

// A program that ends at a loss releases the lease: no id is issued any more, and the other holder
// keeps the worker ID.
func TestReleaseAfterALoss(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		for range 3 {
			w.acquireFrom(w.mem, worker.Config{Layout: testLayout}) // no other is free
		}
		first := w.mustDraw(gen)
		fence := w.steal(first.Worker)
		for lease.Stats().State != "lost" {
			time.Sleep(10 * time.Millisecond)
		}
		w.mustDraw(gen)
		for _, e := range w.seen.all() {
			if e.Kind == worker.Lost && (!errors.Is(e.Err, driver.ErrNotHeld) || e.Worker != first.Worker || e.Duration <= 0 || e.Duration > fence.Sub(w.now())+time.Second) {
				t.Errorf("%+v", e)
			}
		}
		if err := lease.Release(w.Context()); err != nil || w.seen.count(worker.Lost) != 1 {
			t.Error(err, w.seen.all())
		}
		if _, err := gen.Next(w.Context()); !errors.Is(err, core.ErrLost) {
			t.Errorf("after Release: %v", err)
		}
		if rec := w.record(first.Worker); rec.ClaimID != "thief" || rec.Status != driver.Kept {
			t.Errorf("%+v", rec)
		}
	})
}

// A worker ID whose holder crashed can be claimed when its fence has passed by MaxSkew, not before.
func TestTakeoverAfterACrash(t *testing.T) {
	inWorld(t, func(w *world) {
		cut := &flaky{Store: w.mem}
		w.cfg.Preferred, w.cfg.RequirePreferred = ref(int64(3)), true
		lease := w.acquireFrom(cut, w.cfg)
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		cut.set(func(f *flaky) { f.down = errNetwork })
		fence := w.fence(3)
		began := time.Now()
		next := w.acquire(func(cfg *worker.Config) { cfg.ClaimWait = time.Minute })
		if d := time.Since(began); d < 39*time.Second || d > 41*time.Second {
			t.Errorf("taken over after %v", d)
		}
		p := w.mustDraw(w.generator(next, nil))
		if p.Worker != 3 || p.Time.Before(fence) {
			t.Errorf("%+v, the fence was %v", p, fence)
		}
		if _, err := w.draw(gen); !errors.Is(err, core.ErrFenced) {
			t.Errorf("the one before: %v", err)
		}
	})
}
