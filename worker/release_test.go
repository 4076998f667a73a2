package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// stuck is a store whose releases end with their context.
type stuck struct {
	driver.Store
	on atomic.Bool
}

func (s *stuck) Release(ctx context.Context, r driver.Return) error {
	if s.on.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Release(ctx, r)
}

// A Release returns when its own context is done, whatever another one waits for; and
// the worker ID is released by the next call when the store answers again.
func TestReleaseDuringRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drains(t)
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		s := &stuck{Store: memstore.New(memstore.Config{Now: time.Now})}
		s.on.Store(true)
		l, err := worker.Acquire(t.Context(), s, worker.Config{ClaimWait: 4 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		gen, err := core.New(core.Config{Worker: l})
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error)
		go func() { first <- l.Release(context.Background()) }()
		time.Sleep(100 * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := l.Release(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if id, err := gen.Next(t.Context()); err == nil {
			t.Errorf("id %d of a lease that is being released", id)
		}
		if err := <-first; err == nil {
			t.Error("the store did not answer")
		}
		third := make(chan error)
		go func() { third <- l.Release(context.Background()) }()
		synctest.Wait()
		s.on.Store(false)
		if err := <-third; err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil || !errors.Is(l.Err(), worker.ErrReleased) {
			t.Errorf("%v, %v", err, l.Err())
		}
		records, err := s.Store.(driver.Admin).List(t.Context(), "default")
		if err != nil || len(records) != 1 || records[0].ClaimID != "" {
			t.Errorf("%+v, %v", records, err)
		}
	})
}
