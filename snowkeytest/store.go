package snowkeytest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// A Store keeps leases in memory and fails on demand. Make it with NewStore. All methods are safe
// for concurrent use.
//
// After Lose or Forget, a lease is lost at its next renewal. After Fail, it is fenced when
// worker.Config.FenceWindow has passed: its generator then returns core.ErrFenced. With package
// testing/synctest a test need not wait for these times.
type Store struct {
	records *memstore.Store

	mu         sync.Mutex
	err        error
	delay      time.Duration
	namespaces map[string]bool // of the claims
	forgotten  map[string]bool // claim IDs
}

var (
	_ driver.Store = (*Store)(nil)
	_ driver.Admin = (*Store)(nil)
)

// NewStore returns an empty store that works. A lease compares its clock with the store's, so if
// worker.Config.Now is the Now of a Clock, pass the same Clock. Nil: the system clock.
func NewStore(_ testing.TB, clock *Clock) *Store {
	var cfg memstore.Config
	if clock != nil {
		cfg.Now = clock.Now
	}
	return &Store{records: memstore.New(cfg), namespaces: make(map[string]bool), forgotten: make(map[string]bool)}
}

// Fail makes every request fail with err until Fail(nil). A request that fails changes nothing in
// the store.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Slow delays every request by d until Slow(0). A request whose context ends during the delay has
// no effect.
func (s *Store) Slow(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// Lose takes all worker IDs away from their holders, as the command snowkey workers free does. It
// works even while the store fails.
func (s *Store) Lose() { s.take(false) }

// Forget is Lose by a store that was put back to an earlier state and does not know the present
// claims: renewals return [driver.ErrForgotten], and the ids of later claims begin ahead of the
// clock, at the floor of the namespace.
func (s *Store) Forget() { s.take(true) }

func (s *Store) take(forget bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := context.Background()
	for namespace := range s.namespaces {
		st, _ := s.records.List(ctx, namespace) // it fails only if the context is done
		for _, rec := range st.Records {
			_ = s.records.Free(ctx, namespace, rec.Worker, rec.FencingToken) // fails if no process holds the worker ID
			s.forgotten[rec.ClaimID] = s.forgotten[rec.ClaimID] || forget
		}
		if forget {
			_, _ = s.records.Raise(ctx, namespace, 0) // the namespace has a claim
		}
	}
}

// request makes a request after the delay, unless requests fail.
func (s *Store) request(ctx context.Context, ask func() error) error {
	s.mu.Lock()
	delay := s.delay
	s.mu.Unlock()
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return ask()
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (l driver.Lease, err error) {
	err = s.request(ctx, func() (err error) {
		if l, err = s.records.Claim(ctx, c); err == nil {
			s.mu.Lock()
			s.namespaces[c.Namespace] = true
			s.mu.Unlock()
		}
		return err
	})
	return l, err
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) (l driver.Lease, err error) {
	err = s.request(ctx, func() (err error) {
		l, err = s.records.Renew(ctx, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		if errors.Is(err, driver.ErrNotHeld) && s.forgotten[r.ClaimID] {
			err = driver.ErrForgotten
		}
		return err
	})
	return l, err
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Release) error {
	return s.request(ctx, func() error { return s.records.Release(ctx, r) })
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) (st driver.State, err error) {
	err = s.request(ctx, func() (err error) {
		st, err = s.records.List(ctx, namespace)
		return err
	})
	return st, err
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	return s.request(ctx, func() error { return s.records.Free(ctx, namespace, workerID, fencingToken) })
}

// Raise implements driver.Admin.
func (s *Store) Raise(ctx context.Context, namespace string, fenceWindow int64) (ns driver.Namespace, err error) {
	err = s.request(ctx, func() (err error) {
		ns, err = s.records.Raise(ctx, namespace, fenceWindow)
		return err
	})
	return ns, err
}
