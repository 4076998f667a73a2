package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Limiter limits the requests to one store, for all leases that share it: 16 are under way at
// most. After one that the store did not answer, 40 requests a second are made, until the store
// answers one. The zero value is ready for use.
//
// A store has one as a field, and makes the requests of its leases by [Limiter.Do].
type Limiter struct {
	mu        sync.Mutex
	slots     chan struct{} // holds a value for each request under way
	front     chan struct{} // holds a value while a request waits for its turn, the first in the queue
	failed    error         // of the last request, if the store did not answer it
	next      time.Time     // while failed: when the next request may be made
	recovered chan struct{} // while failed: closed when the store has answered
}

const (
	limitRunning  = 16
	limitInterval = 25 * time.Millisecond // between requests to a store that fails
)

// Do calls ask when its turn has come. If ctx is done before, or half of its time has passed, it
// returns an error with the last failure of the store, and has not called ask: with no time left
// for the answer, every request would fail, although the store is back.
func (l *Limiter) Do(ctx context.Context, ask func() error) (err error) {
	l.mu.Lock()
	if l.slots == nil {
		l.slots, l.front = make(chan struct{}, limitRunning), make(chan struct{}, 1)
	}
	slots, front := l.slots, l.front
	l.mu.Unlock()
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return l.overdue(ctx)
	}
	if err := l.wait(ctx, front); err != nil {
		return err
	}
	err = ask()
	l.note(err)
	return err
}

// wait returns when it is the turn of a request.
func (l *Limiter) wait(ctx context.Context, front chan struct{}) error {
	select {
	case front <- struct{}{}:
		defer func() { <-front }()
	case <-ctx.Done():
		return l.overdue(ctx)
	}
	for {
		wait, recovered := l.turn()
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-recovered:
		case <-ctx.Done():
			timer.Stop()
			return l.overdue(ctx)
		}
	}
}

// turn returns how long a request must wait before it asks again whether it is its turn, unless
// recovered is closed before. If that is 0, it has taken its turn, and must be made: a turn that
// is reserved by a request which ends before is one less for the others.
func (l *Limiter) turn() (wait time.Duration, recovered <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		return 0, nil
	}
	now := time.Now()
	if wait = l.next.Sub(now); wait <= 0 {
		l.next = now.Add(limitInterval)
	}
	return wait, l.recovered
}

// note notes the outcome of a request.
func (l *Limiter) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled): // by the lease
	case !answered(err):
		if l.failed == nil {
			l.recovered = make(chan struct{})
		}
		l.failed = err
	case l.failed != nil:
		l.failed = nil
		close(l.recovered)
	}
}

// overdue is the error of a request that was not made.
func (l *Limiter) overdue(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("%w before its turn, and other requests to the store fail: %w", ctx.Err(), l.failed)
	}
	return fmt.Errorf("%w before its turn among the requests to the store", ctx.Err())
}

// answered reports whether an error is the store's answer, and not the lack of one.
func answered(err error) bool {
	return err == nil || IsPermanent(err) || errors.Is(err, ErrNotHeld) || errors.Is(err, ErrNoWorkerID) || errors.Is(err, ErrLocked) || errors.As(err, new(*FloorError))
}
