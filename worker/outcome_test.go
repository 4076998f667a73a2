package worker_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Generators that ask for another worker ID, where there is none, or where none would do, cost a few
// requests a second.
func TestNoStormOfRotations(t *testing.T) {
	for name, full := range map[string]bool{"none free": true, "none that would do": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var requests, failed atomic.Int64
				w.cfg.FixJitter()
				w.store.Store, w.store.slow, w.cfg.MaxSkew = &counted{Store: w.mem, n: &requests}, time.Millisecond, time.Hour
				gen, err := core.New(core.Config{Worker: w.acquire(nil), Now: w.now, ClockPolicy: core.Rotate{}, NotBefore: w.now()})
				if err != nil {
					t.Fatal(err)
				}
				defer gen.Close()
				for n := 0; n < 3 && full; n++ {
					if _, err := w.keep(worker.Acquire(w.Context(), w.mem, w.cfg)); err != nil {
						t.Fatal(err)
					}
				}
				w.mustDraw(gen)
				w.ahead.Add(-int64(time.Minute))
				stop := time.Now().Add(10 * time.Second)
				requests.Store(0)
				var callers sync.WaitGroup
				for range 100 {
					callers.Go(func() {
						for ; time.Now().Before(stop); time.Sleep(10 * time.Millisecond) {
							if _, err := gen.Next(w.Context()); err != nil {
								failed.Add(1)
							}
						}
					})
				}
				callers.Wait()
				if n := requests.Load(); n > 60 || failed.Load() < 5_000 {
					w.Errorf("%d requests in ten seconds, and %d calls failed", n, failed.Load())
				}
				w.ahead.Add(int64(time.Minute))
				time.Sleep(time.Second)
				w.mustDraw(gen)
			})
		})
	}
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

// mislaid loses the answer to the first claim, and refuses the second for its clock.
type mislaid struct {
	driver.Store
	claims int
}

func (m *mislaid) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	switch m.claims++; m.claims {
	case 1:
		_, _ = m.Store.Claim(ctx, r)
		return driver.Claim{}, errors.New("the answer is lost")
	case 2:
		return driver.Claim{}, &worker.SkewError{Local: time.UnixMilli(r.Now), Store: time.UnixMilli(r.Now).Add(time.Hour)}
	}
	return m.Store.Claim(ctx, r)
}

// A SkewError says nothing about a claim whose answer was lost: it is found again and released.
func TestLostAnswerBeforeAWrongClock(t *testing.T) {
	inWorld(t, func(w *world) {
		_, err := worker.Acquire(w.Context(), &mislaid{Store: w.mem}, w.cfg)
		var skew *worker.SkewError
		if !errors.As(err, &skew) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		records, err := w.mem.List(w.Context(), "default")
		if err != nil || len(records) == 0 {
			t.Fatal(records, err)
		}
		for _, record := range records {
			if record.ClaimID != "" {
				t.Errorf("%+v", record)
			}
		}
	})
}
