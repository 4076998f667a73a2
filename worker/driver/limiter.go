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
	failed    error         // of the last request, if the store did not answer it
	next      time.Time     // while failed: when the next request may be made
	recovered chan struct{} // while failed: closed when the store has answered
}

const (
	limitRunning  = 16
	limitInterval = 25 * time.Millisecond // between requests to a store that fails
)

// Do calls ask when its turn has come. If ctx is done before, it returns an error with the last
// failure of the store, and has not called ask.
func (l *Limiter) Do(ctx context.Context, ask func() error) (err error) {
	l.mu.Lock()
	if l.slots == nil {
		l.slots = make(chan struct{}, limitRunning)
	}
	slots := l.slots
	l.mu.Unlock()
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return l.overdue(ctx)
	}
	if turn, recovered := l.turn(); recovered != nil {
		timer := time.NewTimer(time.Until(turn))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-recovered:
		case <-ctx.Done():
			return l.overdue(ctx)
		}
	}
	err = ask()
	l.note(err)
	return err
}

// turn is when a request may be made, unless recovered, which is nil while nothing fails, is closed
// before.
func (l *Limiter) turn() (at time.Time, recovered <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		return at, nil
	}
	at = l.next
	if now := time.Now(); at.Before(now) {
		at = now
	}
	l.next = at.Add(limitInterval)
	return at, l.recovered
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
