package worker_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// inForgetfulWorld is like inWorld, with a store that can be put back.
func inForgetfulWorld(t *testing.T, f func(w *world, back func(to driver.State))) {
	inWorld(t, func(w *world) {
		mem := new(memstore.Store)
		w.mem, w.store.Store, w.forgetful = mem, mem, true
		f(w, func(to driver.State) {
			to.Namespace.Incarnation = "another server"
			mem.Put(to)
		})
	})
}

// The store is put back to before the lease's claim: the lease reports it once, and continues under
// another claim, which starts ahead. A lease that the store still knows is not affected.
func TestForgotten(t *testing.T) {
	inForgetfulWorld(t, func(w *world, back func(driver.State)) {
		known := w.acquire(nil)
		before := w.list()
		w.cfg.NoExpiry = true
		lease := w.acquire(nil)
		gen, other := w.generator(lease, nil), w.generator(known, nil)
		first := w.mustDraw(gen)
		back(before)
		for range 600 {
			time.Sleep(100 * time.Millisecond)
			w.mustDraw(other)
			asked := time.Now()
			if w.mustDraw(gen); time.Since(asked) > 0 {
				t.Fatalf("an id took %v", time.Since(asked))
			}
		}
		st := lease.Stats()
		if st.Forgotten != 1 || st.Losses != 1 || st.Claims != 2 || st.State != "held" || st.Failing != nil || first.Worker != 1 {
			t.Errorf("%+v", st)
		}
		if st := known.Stats(); st.Losses > 0 || st.Failures > 0 || st.Claims != 1 {
			t.Errorf("%+v", st)
		}
		if w.seen.count(worker.Forgotten) != 1 || w.seen.count(worker.Lost) > 0 || w.seen.count(worker.FloorRaised) != 1 {
			t.Errorf("%v", w.seen.all())
		}
		for _, e := range w.seen.all() {
			if e.Kind == worker.Forgotten && (!errors.Is(e.Err, worker.ErrForgotten) || !errors.Is(e.Err, driver.ErrNotHeld) || e.Worker != 1) {
				t.Errorf("%+v", e)
			}
		}
		if ns := w.list().Namespace; ns.Floor < before.Now+40_000 || ns.Floor > before.Now+51_000 {
			t.Errorf("%+v", ns)
		}
	})
}

// A worker ID that never expires, and that the store may have granted to a forgotten claim, is released
// when the lease has another one, or is closed.
func TestForgottenWorkerIDIsReleased(t *testing.T) {
	for _, how := range []string{"another is claimed", "closed before that"} {
		inForgetfulWorld(t, func(w *world, back func(driver.State)) {
			first := w.acquire(func(cfg *worker.Config) { cfg.Preferred = ref(int64(2)) })
			lease := w.acquire(func(cfg *worker.Config) {
				cfg.Preferred, cfg.NoExpiry = ref(int64(2)), true
			})
			gen, old := w.generator(lease, nil), lease.Worker()
			w.mustDraw(gen)
			if err := first.Close(); err != nil || old == 2 {
				t.Fatal(old, err)
			}
			w.store.set(func(f *flaky) { f.down = errNetwork })
			time.Sleep(2 * time.Minute)
			back(w.list())
			w.store.set(func(f *flaky) { f.down = nil })
			if how == "another is claimed" {
				time.Sleep(time.Second)
				if p := w.mustDraw(gen); p.Worker != 2 {
					t.Errorf("%+v: the test shows nothing", p)
				}
				time.Sleep(time.Second)
			} else if err := lease.Close(); err != nil {
				t.Error(err)
			}
			if rec := w.record(old); rec.Status != driver.Released {
				t.Errorf("%s: worker ID %d is %s", how, old, rec.Status)
			}
		})
	}
}

// The store was away for longer than the fence window, and comes back as another server. The lease may
// not renew, but gets its worker ID back at once, although it would never expire for others.
func TestOwnWorkerIDAfterAnOutage(t *testing.T) {
	inForgetfulWorld(t, func(w *world, back func(driver.State)) {
		lease := w.acquire(func(cfg *worker.Config) {
			cfg.Preferred, cfg.RequirePreferred, cfg.NoExpiry = ref(int64(2)), true, true
		})
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		w.store.set(func(f *flaky) { f.down = errNetwork })
		time.Sleep(2 * time.Minute)
		back(w.list())
		w.store.set(func(f *flaky) { f.down = nil })
		time.Sleep(time.Second)
		if p := w.mustDraw(gen); p.Worker != 2 || p.Time.Sub(w.now()) < 38*time.Second {
			t.Errorf("%+v", p)
		}
		if st := lease.Stats(); st.Forgotten != 1 || st.Claims != 2 || st.State != "held" {
			t.Errorf("%+v", st)
		}
	})
}

// A restart within the fence window changes nothing but the floor of new claims.
func TestRestartOfTheStore(t *testing.T) {
	inForgetfulWorld(t, func(w *world, back func(driver.State)) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		back(w.list())
		w.draws(gen, time.Minute)
		if w.caughtUp(lease); w.seen.count(worker.FloorRaised) != 1 || lease.Stats().Claims != 1 {
			t.Errorf("%v", w.seen.all())
		}
		if p := w.mustDraw(w.generator(w.acquire(nil), nil)); p.Time.UnixMilli() < w.list().Namespace.Floor {
			t.Errorf("%+v, and the floor is %v", p, w.list().Namespace.Floor)
		}
	})
}

// If the store raises its floor but refuses the claim, the observer gets one event.
func TestFloorRaisedIsReported(t *testing.T) {
	inForgetfulWorld(t, func(w *world, back func(driver.State)) {
		w.cfg.NoExpiry = true
		for range testLayout.WorkerIDs() {
			w.acquire(nil)
		}
		time.Sleep(time.Second) // each is renewed once
		to := w.list()
		for i := range to.Records {
			to.Records[i].ClaimID += "of others"
		}
		back(to)
		w.cfg.ClaimWait = 3 * time.Second
		if _, err := worker.Acquire(w.Context(), w.store, w.cfg); !errors.Is(err, worker.ErrNoWorkerID) {
			t.Fatal(err)
		}
		if synctest.Wait(); w.seen.count(worker.FloorRaised) != 1 {
			t.Errorf("%v", w.seen.all())
		}
	})
}

// While ids are ahead of the clock, a generator that is asked for more than the layout has is slowed, but
// does not reach the fence, which does not rise until the clock has caught up.
func TestCapWhileAhead(t *testing.T) {
	for name, c := range map[string]struct {
		policy core.ClockPolicy
		window time.Duration
		events int
		skew   time.Duration // of the machine's clock
	}{
		"one failover":                {nil, 0, 1, 0},
		"two failovers":               {nil, 0, 2, 0},
		"MaxAhead beyond the window":  {nil, 6 * time.Second, 1, 0},
		"MaxAhead beyond two windows": {core.Logical{MaxAhead: time.Hour}, 0, 2, 0},
		"a clock that is ahead":       {core.Logical{MaxAhead: time.Hour}, 0, 1, 10 * time.Second},
		"a clock that is behind":      {core.Logical{MaxAhead: time.Hour}, 0, 2, -10 * time.Second},
		"Rotate":                      {core.Rotate{}, 0, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inForgetfulWorld(t, func(w *world, back func(driver.State)) {
				w.cfg.FenceWindow, w.cfg.Layout.Tick = c.window, 200*time.Millisecond
				for range c.events {
					if err := w.acquire(nil).Close(); err != nil {
						t.Fatal(err)
					}
					back(w.list())
				}
				w.cfg.ClockPolicy = c.policy
				w.ahead.Store(int64(c.skew))
				gen, err := worker.Open(w.Context(), w.store, w.cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer gen.Close(w.Context())
				ids := make([]int64, 16*4) // of four ticks
				for began := time.Now(); time.Since(began) < 3*time.Minute; {
					asked := time.Now()
					if err := gen.Fill(w.Context(), ids); err != nil {
						t.Fatalf("after %v: %v", time.Since(began), err)
					}
					if took := time.Since(asked); took > 3*time.Second {
						t.Errorf("after %v, the ids of four ticks took %v", time.Since(began), took)
					}
				}
			})
		})
	}
}

// A failover raises the fence of a held lease, which then does not rise until the clock is at the floor. At full
// load, ids do not reach it meanwhile, even if MaxAhead is beyond the window.
func TestCapAtAFailover(t *testing.T) {
	inForgetfulWorld(t, func(w *world, back func(driver.State)) {
		w.cfg.FenceWindow, w.cfg.Layout.Tick = 6*time.Second, 50*time.Millisecond
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		ids := make([]int64, 16*5) // of a quarter of a second
		for began, failed := time.Now(), false; time.Since(began) < 30*time.Second; {
			if !failed && time.Since(began) > 5*time.Second {
				failed = true
				back(w.list())
			}
			if err := gen.Fill(w.Context(), ids); err != nil {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
		if st := lease.Stats(); st.Claims != 1 || w.seen.count(worker.FloorRaised) != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// A floor that is ahead by hours, as after "snowkey workers floor", leaves each lease one FenceWindow. When
// that is used up, the error says until when.
func TestFloorHoursAhead(t *testing.T) {
	inForgetfulWorld(t, func(w *world, back func(driver.State)) {
		w.cfg.Layout.Tick = 50 * time.Millisecond
		if err := w.acquire(nil).Close(); err != nil {
			t.Fatal(err)
		}
		to := w.list()
		to.Namespace.Floor = to.Now + 3_600_000
		w.mem.(*memstore.Store).Put(to)
		gen, err := worker.Open(w.Context(), w.store, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close(w.Context())
		began := time.Now()
		for err == nil {
			_, err = gen.Next(w.Context())
		}
		if took := time.Since(began); took < 90*time.Second || took > 95*time.Second || !errors.Is(err, core.ErrFenced) ||
			!strings.Contains(err.Error(), "have used up Config.FenceWindow, 30s: they cannot continue before the store's clock shows 2000-01-01T01:00:40.000Z") {
			t.Errorf("after %v: %v", took, err)
		}
		time.Sleep(time.Hour)
		if _, err := gen.Next(w.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A store that is put back three times in a row grants nothing until the floor is nearer. Open
// waits for that as long as ClaimWait allows.
func TestFloorTooFarAhead(t *testing.T) {
	inForgetfulWorld(t, func(w *world, back func(driver.State)) {
		for range 3 {
			if err := w.acquire(nil).Close(); err != nil {
				t.Fatal(err)
			}
			back(w.list())
		}
		w.cfg.ClaimWait = -1
		_, err := worker.Acquire(w.Context(), w.store, w.cfg)
		var floor *worker.FloorError
		if !errors.As(err, &floor) || floor.Wait != 40_000 || !strings.Contains(err.Error(), `the store of namespace "default" was put back to an earlier state again, and its floor is still at 2000-01-01T00:01:20.000Z: claims are possible in 40s, or after snowkey workers floor`) {
			t.Fatalf("%v", err)
		}
		w.cfg.ClaimWait = time.Minute
		began := time.Now()
		w.mustDraw(w.generator(w.acquire(nil), nil))
		if took := time.Since(began); took < 40*time.Second || took > 41*time.Second {
			t.Errorf("claimed after %v", took)
		}
	})
}

// Another transaction keeps the record locked: before its fence, the lease continues under another
// worker ID, and releases the first one when that is possible.
func TestLocked(t *testing.T) {
	for name, c := range map[string]struct {
		lasts  time.Duration
		others int // that have worker IDs
		claims uint64
	}{
		"for a while":                    {7 * time.Second, 0, 1},
		"for long":                       {50 * time.Second, 0, 2},
		"for long, and no other is free": {20 * time.Second, 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				lease := w.acquire(nil)
				gen := w.generator(lease, nil)
				for range c.others {
					w.acquireFrom(w.mem, worker.Config{Layout: testLayout})
				}
				first := w.mustDraw(gen)
				w.draws(gen, 15*time.Second)
				w.store.set(func(f *flaky) { f.locked = &first.Worker })
				w.draws(gen, c.lasts)
				w.store.set(func(f *flaky) { f.locked = nil })
				w.draws(gen, time.Minute)
				w.caughtUp(lease)
				if st := lease.Stats(); st.Claims != c.claims || w.held() != 1+c.others || w.seen.count(worker.Lost)+w.seen.count(worker.Fenced) > 0 || (w.last.Worker == first.Worker) != (c.claims == 1) {
					t.Errorf("%d are held: %+v, %v", w.held(), st, w.seen.all())
				}
			})
		})
	}
}

// If the record of the next worker ID is locked too, before the generator asks for it, that worker ID is released.
func TestLockedBeforeItIsUsed(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, nil)
		w.mustDraw(gen)
		for range 2 {
			id := lease.Worker()
			w.store.set(func(f *flaky) { f.locked = &id })
			for lease.Worker() == id {
				time.Sleep(100 * time.Millisecond)
			}
		}
		w.store.set(func(f *flaky) { f.locked = nil })
		time.Sleep(time.Second)
		if w.held() != 2 {
			t.Errorf("%d are held, and the generator has one and gets another", w.held())
		}
		w.mustDraw(gen)
		time.Sleep(time.Second)
		if w.held() != 1 {
			t.Errorf("%d are held", w.held())
		}
	})
}
