package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Generators that ask for another worker ID cost only a few requests a second if no worker ID is free, or
// none that they can use.
func TestNoStormOfRotations(t *testing.T) {
	for name, most := range map[string]int64{"none free": 60, "none that would do": 120} { // which is given back each time
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var requests atomic.Int64
				w.cfg.FixJitter()
				w.store.Store, w.store.slow, w.cfg.MaxSkew = counted(w.mem, &requests, nil), time.Millisecond, time.Hour
				w.cfg.FenceWindow, w.cfg.RenewInterval = 2*time.Hour, 10*time.Second
				lease := w.acquire(nil)
				gen := w.newGenerator(core.Config{Worker: lease, Now: w.now, ClockPolicy: core.Rotate{}, NotBefore: w.now()})
				for n := 0; n < 3 && name == "none free"; n++ {
					w.acquireFrom(w.mem, w.cfg)
				}
				first := w.mustDraw(gen)
				w.ahead.Add(-int64(time.Minute))
				if n := w.storm(gen, nil, &requests); n > most {
					w.Errorf("%d requests in ten seconds", n)
				}
				w.ahead.Add(int64(time.Minute))
				time.Sleep(time.Second)
				if p := w.mustDraw(gen); p.Worker != first.Worker || lease.Stats().Losses != 0 {
					w.Errorf("%+v after %+v: %+v", p, first, lease.Stats())
				}
			})
		})
	}
}

// The call for which another worker ID was claimed has given up. Ids continue at the old fence, even if each
// call waits less than MaxWait there.
func TestRotateForACallThatIsGone(t *testing.T) {
	inWorld(t, func(w *world) {
		gen := w.generator(w.acquire(nil), core.Rotate{})
		first := w.mustDraw(gen)
		within := func(d time.Duration) error {
			ctx, cancel := context.WithTimeout(w.Context(), d)
			defer cancel()
			_, err := gen.Next(ctx)
			return err
		}
		w.store.set(func(f *flaky) { f.slow = 50 * time.Millisecond })
		w.ahead.Add(-int64(100 * time.Millisecond))
		if within(20*time.Millisecond) == nil {
			t.Fatal("the test shows nothing")
		}
		w.ahead.Add(int64(100 * time.Millisecond))
		time.Sleep(100 * time.Millisecond)
		w.store.set(func(f *flaky) { f.slow = 0 })
		for range 120 {
			time.Sleep(time.Second)
			if err := within(500 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if p := w.mustDraw(gen); p.Worker == first.Worker {
			t.Errorf("%+v after %+v", p, first)
		}
	})
}

// A generator that is to continue under another worker ID asks for it at the fence, also
// if renewals of the one before have failed.
func TestExchangeAfterAFailedRenewal(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(func(cfg *worker.Config) { cfg.FenceWindow = 3 * time.Second })
		gen := w.generator(lease, core.Rotate{})
		w.mustDraw(gen)
		w.store.set(func(f *flaky) { f.down = errNetwork })
		time.Sleep(1500 * time.Millisecond)
		w.store.set(func(f *flaky) { f.down, f.slow = nil, 200*time.Millisecond })
		w.ahead.Add(-int64(2 * time.Second))
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := gen.Next(ctx); err == nil {
			t.Fatal("an id")
		}
		w.ahead.Add(int64(2 * time.Second)) // and no call asks any more
		w.store.set(func(f *flaky) { f.slow = 0 })
		time.Sleep(10 * time.Second)
		w.mustDraw(gen)
	})
}

// A SkewError says nothing about a claim whose answer was lost: it is found again and released.
func TestLostAnswerBeforeAWrongClock(t *testing.T) {
	inWorld(t, func(w *world) {
		answers := 0
		w.store.after = func(r driver.Claim, c driver.Lease, err error) (driver.Lease, error) {
			switch answers++; answers {
			case 1:
				return driver.Lease{}, errNetwork
			case 2:
				return driver.Lease{}, &worker.SkewError{Local: time.UnixMilli(r.Now), Store: time.UnixMilli(r.Now).Add(time.Hour)}
			}
			return c, err
		}
		_, err := worker.Acquire(w.Context(), w.store, w.cfg)
		var skew *worker.SkewError
		if !errors.As(err, &skew) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n := w.held(); n != 0 || answers < 3 {
			t.Errorf("%d worker IDs are held after %d claims", n, answers)
		}
	})
}
