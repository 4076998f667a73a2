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

// Close calls Release.
func (l *lease) Close() error { return l.Release(context.Background()) }

// FixJitter makes all delays 3/4 of the longest one, so that a test can count requests over time.
func (cfg *Config) FixJitter() { cfg.rand = func() float64 { return 0.5 } }

// A SteppedLease is a lease without its own goroutine: the test steps it, even while a method waits. So
// everything that the lease does happens in the order of the test's one goroutine.
type SteppedLease struct {
	*lease

	stepping bool // also while others act between a request and its answer
	was      state
	changed  func(from, to string) // receives each change of state
}

// look reports a change of state. One that is undone before the next look is not seen.
func (l *SteppedLease) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != l.was {
		l.changed(l.was.String(), l.state.String())
		l.was = l.state
	}
}

// AcquireStepped is like Acquire, for a SteppedLease.
func AcquireStepped(ctx context.Context, s driver.Store, cfg Config, rand func() float64, changed func(from, to string)) (*SteppedLease, error) {
	cfg.rand = rand
	l, err := newLease(s, cfg)
	if err != nil {
		return nil, err
	}
	l.running = true
	l.call = func(_ context.Context, _ string, request func() (driver.Lease, error)) (driver.Lease, error) {
		return request()
	}
	stepped := &SteppedLease{lease: l, changed: changed}
	stepped.during(func() { err = l.acquire(ctx) })
	return stepped, err
}

// Step makes the request that is due, and returns how long until the next one.
func (l *SteppedLease) Step() time.Duration {
	for {
		if wait := l.once(); wait > 0 {
			return wait
		}
	}
}

func (l *SteppedLease) once() time.Duration {
	if l.stepping {
		return time.Millisecond
	}
	l.look()
	l.stepping = true
	next := l.step()
	l.stepping = false
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = true // also when nothing is left to do
	if next.over {
		return time.Hour
	}
	return next.wait
}

// during steps while a method runs.
func (l *SteppedLease) during(method func()) {
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		method()
	}()
	for {
		synctest.Wait()
		select {
		case <-returned:
			l.look()
			return
		default:
		}
		l.once()
		time.Sleep(time.Millisecond)
	}
}

// Grant calls lease.Grant.
func (l *SteppedLease) Grant(ctx context.Context, prev *core.Grant) (grant *core.Grant, err error) {
	l.during(func() { grant, err = l.lease.Grant(ctx, prev) })
	return grant, err
}

// Release calls lease.Release.
func (l *SteppedLease) Release(ctx context.Context) (err error) {
	l.during(func() { err = l.lease.Release(ctx) })
	l.once() // to end
	return err
}

// Worker returns the worker ID that ids are issued under.
func (l *lease) Worker() int64 { return l.Stats().Worker }

// Err returns why the lease is over, or nil while it is not.
func (l *lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
