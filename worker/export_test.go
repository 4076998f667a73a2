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

// Wake is what follows each answer of the store.
func (l *lease) Wake() { l.run() }

// CloseStore is what Generator.Close does last.
func (l *lease) CloseStore() error { return l.closeStore() }

// Done is closed when the lease has ended.
func (l *lease) Done() <-chan struct{} { return l.ending.done }

// Layout is the layout of the ids.
func (l *lease) Layout() core.Layout { return l.cfg.Layout }

// FixJitter makes all delays 3/4 of the longest, so that a test can count the requests of a time.
func (cfg *Config) FixJitter() { cfg.rand = func() float64 { return 0.5 } }

// A SteppedLease is a lease without an owner's goroutine: a test steps it, and its methods do so
// while they wait. So all that it does is in the order of the test's one goroutine.
type SteppedLease struct {
	*lease
}

// AcquireStepped is Acquire for a SteppedLease.
func AcquireStepped(ctx context.Context, s driver.Store, cfg Config, rand func() float64) (*SteppedLease, error) {
	cfg.rand = rand
	l, err := newLease(s, cfg)
	if err != nil {
		return nil, err
	}
	stepped := &SteppedLease{l}
	return stepped, l.endFirstClaim(stepped.wait(ctx, l.claiming.first))
}

// Step does what is due, and returns how long until something else is.
func (l *SteppedLease) Step() time.Duration {
	for {
		if wait := l.once(); wait > 0 {
			return wait
		}
	}
}

func (l *SteppedLease) once() time.Duration {
	next := l.step()
	if next.call == nil {
		return next.wait
	}
	l.make(next.call)
	return 0
}

// wait is wait, and steps meanwhile.
func (l *SteppedLease) wait(ctx context.Context, ready <-chan struct{}) error {
	for {
		l.once()
		select {
		case <-ready:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		default:
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
	}
}

// Grant is that of lease.
func (l *SteppedLease) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	w, err := l.ask(prev)
	if err != nil {
		return nil, err
	}
	return l.take(w, l.wait(ctx, w.answered))
}

// Release is that of lease.
func (l *SteppedLease) Release(ctx context.Context) error {
	began := time.Now()
	if !l.beginRelease() {
		return nil
	}
	for {
		changed, err := l.checkRelease(ctx, began)
		if changed == nil {
			return err
		}
		_ = l.wait(ctx, changed)
	}
}
