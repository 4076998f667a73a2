package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// mortal is a client that may be cut off: from then on nothing that it sends arrives. Its
// generator continues.
type mortal struct {
	driver.Store
	dead atomic.Bool
}

var errDead = errors.New("storetest: the network is down")

func (m *mortal) alive() error {
	if m.dead.Load() {
		return errDead
	}
	return nil
}

func (m *mortal) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := m.alive(); err != nil {
		return driver.Lease{}, err
	}
	return m.Store.Claim(ctx, c)
}

func (m *mortal) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	if err := m.alive(); err != nil {
		return driver.Lease{}, err
	}
	return m.Store.Renew(ctx, r)
}

func (m *mortal) Release(ctx context.Context, r driver.Release) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Release(ctx, r)
}

// Leases and generators over the store, some cut off from it without noticing. No id is
// issued twice.
func generators(t *testing.T, s *suite) {
	const least = 100 // ids
	layout := core.Layout{TimeBits: 41, WorkerBits: 3, SequenceBits: 3}
	var mu sync.Mutex
	seen := map[int64]int{}
	began := time.Now()
	over := func() bool {
		mu.Lock()
		defer mu.Unlock()
		past := time.Since(began)
		return past > 3*time.Second && len(seen) >= least || past > patience
	}
	var wg, cut sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for life := 0; !over(); life++ {
				store := &mortal{Store: s.Open(t)}
				apart := time.Duration(rand.IntN(600)-300) * time.Millisecond
				now := func() time.Time { return time.Now().Add(apart) }
				gen, err := worker.Open(t.Context(), store, worker.Config{
					Namespace: s.namespace, Layout: layout, FenceWindow: time.Second, MaxSkew: 500 * time.Millisecond, Timeout: patience,
					Now: now, MaxWait: 50 * time.Millisecond,
				})
				if err != nil && expected(err) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				draw := func(fence time.Time) {
					for time.Now().Before(fence) {
						id, err := gen.Next(context.Background())
						if err != nil {
							if !expected(err) {
								t.Error(err)
							}
							return
						}
						mu.Lock()
						seen[id]++
						mu.Unlock()
					}
				}
				draw(time.Now().Add(200 * time.Millisecond))
				if life%2 == i%2 {
					ctx, cancel := context.WithTimeout(context.Background(), patience)
					if err := gen.Close(ctx); err != nil {
						t.Error(err)
					}
					cancel()
					continue
				}
				store.dead.Store(true)
				cut.Go(func() { // it continues next to its successor
					draw(time.Now().Add(2 * time.Second))
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					_ = gen.Close(ctx)
				})
			}
		})
	}
	wg.Wait()
	cut.Wait()
	twice := 0
	for id, n := range seen {
		if n > 1 {
			if twice++; twice < 5 {
				p, _ := layout.Decode(id)
				t.Errorf("%+v was issued %d times", p, n)
			}
		}
	}
	if len(seen) < least {
		t.Errorf("only %d ids were issued in %v", len(seen), patience)
	}
	t.Logf("%d ids, %d of them twice", len(seen), twice)
}

// expected reports whether a generator may return the error: its ids have reached the fence, its worker ID
// is lost and no other is free, or a slow answer made the clocks seem too far apart.
func expected(err error) bool {
	return errors.Is(err, core.ErrFenced) || errors.Is(err, core.ErrLost) || errors.Is(err, core.ErrSequenceExhausted) ||
		errors.Is(err, driver.ErrNoWorkerID) || errors.Is(err, errDead) || errors.As(err, new(*driver.SkewError))
}
