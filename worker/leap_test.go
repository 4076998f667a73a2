package worker_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// lateRenewal is a store in which one renewal arrives after the release, or after
// a release that failed.
type lateRenewal struct {
	worker.Store
	armed   atomic.Bool
	fail    atomic.Bool // the releases
	began   chan struct{}
	goes    chan struct{}
	goesOne sync.Once
}

func (s *lateRenewal) Renew(ctx context.Context, r worker.Renewal) error {
	if s.armed.CompareAndSwap(true, false) {
		close(s.began)
		select {
		case <-s.goes:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Store.Renew(ctx, r)
}

func (s *lateRenewal) Release(ctx context.Context, r worker.Return) error {
	if s.fail.Load() {
		return errors.New("down")
	}
	err := s.Store.Release(ctx, r)
	s.goesOne.Do(func() {
		close(s.goes)
		time.Sleep(20 * time.Millisecond) // its answer is on its way
	})
	return err
}

// The clock leaps while a renewal is under way: the number is given back and claimed
// anew, which is no loss, and does not end the lease.
func TestLeapDuringRenewal(t *testing.T) {
	for name, fails := range map[string]bool{"released": false, "store fails first": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
				s := &lateRenewal{Store: memstore.New(memstore.Config{Now: time.Now}), began: make(chan struct{}), goes: make(chan struct{})}
				var ahead atomic.Int64
				now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
				l, err := worker.Acquire(t.Context(), s, worker.Config{Now: now, StopOnLoss: true, MaxSkew: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				first, err := l.Grant(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if fails {
					s.fail.Store(true)
				} else {
					s.armed.Store(true)
				}
				ahead.Store(int64(10 * time.Minute))
				if fails {
					if _, err := l.Grant(t.Context(), first); err == nil || err.Error() != "down" {
						t.Errorf("%v", err)
					}
					time.Sleep(5 * time.Second) // it is held, and renewed again
					if st := l.Stats(); st.Losses > 0 || st.Renewals == 0 || l.Err() != nil {
						t.Errorf("%+v, %v", st, l.Err())
					}
					return
				}
				<-s.began
				second, err := l.Grant(t.Context(), first)
				if err != nil || second == first {
					t.Errorf("%v", err)
				}
				synctest.Wait()
				if st := l.Stats(); l.Err() != nil || st.Losses > 0 || st.Claims != 2 {
					t.Errorf("nobody took the number: %v, %+v", l.Err(), st)
				}
			})
		})
	}
}
