package worker_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// limitedStore is a store with a Limiter.
type limitedStore struct {
	*flaky
	driver.Limiter
}

// crowded is so many callers of Acquire at once; it counts those that have a worker ID.
func (w *world) crowded(callers int) (granted *atomic.Int64) {
	store, granted := &limitedStore{flaky: w.store}, new(atomic.Int64)
	for range callers {
		go func() {
			if _, err := w.keep(worker.Acquire(w.Context(), store, w.cfg)); err == nil {
				granted.Add(1)
			}
		}()
	}
	return granted
}

func (w *world) claims() int {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return len(w.store.claims)
}

// holdAll leases every worker ID to strangers, and returns what frees one.
func (w *world) holdAll() (free func(id int64)) {
	w.Helper()
	for n := range testLayout.WorkerIDs() {
		w.claimAs(fmt.Sprint("stranger ", n), n, driver.NoTTL)
	}
	return func(id int64) {
		if err := w.mem.Free(w.Context(), "default", id, 1); err != nil {
			w.Error(err)
		}
	}
}

func TestCrowd(t *testing.T) {
	const callers = 300
	for name, c := range map[string]struct {
		stop, start func(f *flaky) // the store
		answers     time.Duration  // how long it takes
	}{
		"none free": {},
		"none free, far away": {
			stop:    func(f *flaky) { f.slow = time.Second },
			answers: time.Second,
		},
		"fails": {
			stop:  func(f *flaky) { f.down = errNetwork },
			start: func(f *flaky) { f.down = nil },
		},
		"hangs": {
			stop:  func(f *flaky) { f.slow = time.Hour },
			start: func(f *flaky) { f.slow = 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				free := w.holdAll()
				w.cfg.ClaimWait = time.Minute
				granted := w.crowded(callers)
				time.Sleep(time.Second) // each has asked
				if c.stop != nil {
					w.store.set(c.stop)
				}
				time.Sleep(5 * time.Second)
				before := w.claims()
				time.Sleep(10 * time.Second)
				if rate := float64(w.claims()-before) / 10; rate > 5 || rate < 1 {
					t.Errorf("%.1f claims a second", rate)
				}
				free(2)
				before = w.claims()
				if c.start != nil {
					w.store.set(c.start)
				}
				time.Sleep(500*time.Millisecond + c.answers)
				if n := granted.Load(); n != 1 {
					t.Errorf("half a second after one was freed, %d are claimed", n)
				}
				// A claim that was sent, and not answered, is sent again.
				if n := w.claims() - before; n > 90 {
					t.Errorf("%d claims for it", n)
				}
			})
		})
	}
}

// A claim that was granted, and its answer lost, is found again, although others learn
// that no worker ID is free. Otherwise it would stay leased without a holder.
func TestCrowdAndALostAnswer(t *testing.T) {
	for _, away := range []time.Duration{0, 2 * time.Second} { // the store, after that
		t.Run(away.String(), func(t *testing.T) { inWorld(t, func(w *world) { lostAnswer(w, away) }) })
	}
}

func lostAnswer(w *world, away time.Duration) {
	free := w.holdAll()
	w.cfg.ClaimWait = time.Minute
	granted := w.crowded(50)
	time.Sleep(10 * time.Second)
	w.store.set(func(f *flaky) {
		f.after = func(_ driver.Request, c driver.Claim, err error) (driver.Claim, error) {
			if err == nil {
				f.set(func(f *flaky) {
					if f.after = nil; away > 0 {
						f.down = errNetwork
					}
				})
				return driver.Claim{}, errNetwork
			}
			return c, err
		}
	})
	free(1)
	time.Sleep(time.Second + away)
	w.store.set(func(f *flaky) { f.down = nil })
	time.Sleep(time.Second)
	if n := granted.Load(); n != 1 || w.record(1).FencingToken != 2 {
		w.Errorf("%d leases have a worker ID, and the record is %+v", n, w.record(1))
	}
}
