package worker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// crowded is a crowd of concurrent callers of Acquire; it counts those that have a worker ID.
func (w *world) crowded(callers int) (granted *atomic.Int64) {
	limiter, granted := new(driver.Limiter), new(atomic.Int64)
	store := via{w.store, func(ctx context.Context, request func(context.Context) error) error {
		return limiter.Do(ctx, func() error { return request(ctx) })
	}}
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

// holdAll leases every worker ID to strangers.
func (w *world) holdAll() {
	w.Helper()
	for n := range testLayout.WorkerIDs() {
		w.claimAs(fmt.Sprint("stranger-", n), n)
	}
}

func TestCrowd(t *testing.T) {
	const callers = 300
	for name, c := range map[string]struct {
		stop, start func(f *flaky) // the store
		rate        float64        // the most claims a second
		answers     time.Duration  // how long it takes
	}{
		"none free": {rate: 3 * callers}, // each claims every third of a second
		"none free, far away": {
			rate:    30,
			stop:    func(f *flaky) { f.slow = time.Second },
			answers: time.Second,
		},
		"fails": {
			rate:  40,
			stop:  func(f *flaky) { f.down = errNetwork },
			start: func(f *flaky) { f.down = nil },
		},
		"hangs": {
			rate:    20,
			stop:    func(f *flaky) { f.slow = time.Hour },
			start:   func(f *flaky) { f.slow = 0 },
			answers: 3 * time.Second, // those that are under way do not return before
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.holdAll()
				w.cfg.ClaimWait = time.Minute
				granted := w.crowded(callers)
				time.Sleep(time.Second) // each has asked
				if c.stop != nil {
					w.store.set(c.stop)
				}
				time.Sleep(5 * time.Second)
				before := w.claims()
				time.Sleep(10 * time.Second)
				if rate := float64(w.claims()-before) / 10; rate > c.rate || rate < 1 {
					t.Errorf("%.1f claims a second", rate)
				}
				w.leave(2)
				if c.start != nil {
					w.store.set(c.start)
				}
				time.Sleep(500*time.Millisecond + c.answers)
				if n := granted.Load(); n != 1 {
					t.Errorf("half a second after one was freed, %d are claimed", n)
				}
			})
		})
	}
}
