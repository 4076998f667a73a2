package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Limiter limits the requests to one store, for all leases that share it: 16 are under way at
// most. After one that the store did not answer, 40 requests a second are made, until the store
// answers one. The zero value is ready for use.
//
// A store has one as a field, and makes the requests of its leases by [Limiter.Do].
type Limiter struct {
	mu      sync.Mutex
	running int             // requests under way
	waiting []chan struct{} // requests that wait; each is closed when it may be made
	failed  error           // of the last request, if the store did not answer it
	next    time.Time       // while failed: when the next request may be made
	timed   bool            // a timer admits it
}

const (
	limitRunning  = 16
	limitInterval = 25 * time.Millisecond // between requests to a store that fails
)

// Do calls ask when its turn has come. If ctx is done before, it returns an error with the last
// failure of the store, and has not called ask. A request that has not returned when its context is
// done keeps no other waiting.
func (l *Limiter) Do(ctx context.Context, ask func() error) error {
	turn := make(chan struct{})
	l.mu.Lock()
	l.waiting = append(l.waiting, turn)
	l.admit()
	l.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		return l.leave(ctx, turn)
	}
	var once sync.Once
	end := func(err error) { once.Do(func() { l.end(err) }) }
	defer context.AfterFunc(ctx, func() { end(ctx.Err()) })()
	err := errors.New("driver: the request panicked")
	defer func() { end(err) }()
	err = ask()
	return err
}

// leave ends a request that was not made.
func (l *Limiter) leave(ctx context.Context, turn chan struct{}) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, turn); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	} else { // its turn came just now
		l.running--
		l.admit()
	}
	if l.failed != nil {
		return fmt.Errorf("%w before its turn, and other requests to the store fail: %w", ctx.Err(), l.failed)
	}
	return fmt.Errorf("%w before its turn among the requests to the store", ctx.Err())
}

// end notes the outcome of a request.
func (l *Limiter) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	switch {
	case errors.Is(err, context.Canceled): // by the lease
	case answered(err):
		l.failed = nil
	default:
		l.failed = err
	}
	l.admit()
}

// admit lets requests pass; l.mu is held. The newest one is first, because it has the most of its time
// left. If the oldest were, each would be made when its time is nearly over, and a store that needs
// longer to answer would seem to fail for ever.
func (l *Limiter) admit() {
	for n := len(l.waiting); n > 0 && l.running < limitRunning; n-- {
		if l.failed != nil {
			if wait := time.Until(l.next); wait > 0 {
				if !l.timed {
					l.timed = true
					time.AfterFunc(wait, l.tick)
				}
				return
			}
			l.next = time.Now().Add(limitInterval)
		}
		l.running++
		close(l.waiting[n-1])
		l.waiting = l.waiting[:n-1]
	}
}

func (l *Limiter) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timed = false
	l.admit()
}

// answered reports whether an error is the store's answer, and not the lack of one.
func answered(err error) bool {
	return err == nil || IsPermanent(err) || errors.Is(err, ErrNotHeld) || errors.Is(err, ErrNoWorkerID) || errors.Is(err, ErrLocked) || errors.As(err, new(*FloorError))
}
