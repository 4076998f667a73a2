package worker

import (
	"context"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Tests of the lease alone use it as a core.GrantSource.
type Lease = lease

// Acquire makes a lease of a worker ID.
func Acquire(ctx context.Context, s driver.Store, cfg Config) (*Lease, error) {
	l, err := newLease(s, cfg)
	if err == nil {
		err = l.acquire(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// ErrReleased is errReleased.
var ErrReleased = errReleased

// Close is Release.
func (l *lease) Close() error { return l.Release(context.Background()) }

// Done is closed when the lease has ended.
func (l *lease) Done() <-chan struct{} { return l.done }

// Layout is the layout of the ids.
func (l *lease) Layout() core.Layout { return l.cfg.Layout }

// FixJitter makes all delays 3/4 of the longest, so that a test can count the requests of a time.
func (cfg *Config) FixJitter() { cfg.rand = func() float64 { return 0.5 } }

// AcquireStepped is Acquire for a test that is the lease's owner itself: step does what
// is due, and says when something will be.
func AcquireStepped(ctx context.Context, s driver.Store, cfg Config, rand func() float64) (l *lease, step func() time.Duration, err error) {
	cfg.rand = rand
	l, err = newLease(s, cfg)
	if err != nil {
		return nil, nil, err
	}
	l.sleep = func(d time.Duration) {
		time.Sleep(d)
		synctest.Wait()
	}
	if err := l.firstClaim(ctx); err != nil {
		return nil, nil, err
	}
	return l, func() time.Duration {
		for {
			if wait, _, _, _ := l.step(); wait > 0 {
				return wait
			}
		}
	}, nil
}
