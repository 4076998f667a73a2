package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Limiter limits the requests to one store by all leases that share it: at most 16 run at a time.
// Each request that fails without an answer of the store lowers that by one, down to 2; each answer
// raises it by one. Otherwise, with a slow store or program, 16 requests at a time would all time out,
// again and again. After a request without an answer, the Limiter allows 40 requests a second until the
// store answers one. The zero value is ready for use.
//
// Keep one as a field of the store, and make the requests of leases with [Limiter.Do].
type Limiter struct {
	mu       sync.Mutex
	slots    chan struct{} // a value for each request under way or waiting for its turn, and for each withheld slot
	withheld int           // slots that requests without an answer have not given back
	failed   error         // the last request's error, if the store did not answer it
	next     time.Time     // while failed: when the next request may be made
}

const (
	limitRunning  = 16
	minRunning    = 2
	limitInterval = 25 * time.Millisecond // between requests to a store that fails
)

// Do calls ask when its turn has come. If ctx is done or half its time has passed before that, Do
// does not call ask, and returns an error with the store's last failure: with too little time left
// for the answer, every request would fail even after the store is back.
//
// ask must return soon after ctx is done: while two calls do not, all others may have to wait.
func (l *Limiter) Do(ctx context.Context, ask func() error) error {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	l.mu.Lock()
	if l.slots == nil {
		l.slots = make(chan struct{}, limitRunning)
	}
	l.mu.Unlock()
	given := 1 // slots to give back
	select {
	case l.slots <- struct{}{}:
		defer func() {
			for range given {
				<-l.slots
			}
		}()
	case <-ctx.Done():
		return l.overdueError(ctx.Err())
	}
	wait, ok := l.reserveTurn(ctx)
	if !ok {
		return l.overdueError(context.DeadlineExceeded)
	}
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return l.overdueError(ctx.Err())
		}
	}
	err := ask()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case isAnswer(err):
		l.failed = nil
		if l.withheld > 0 {
			l.withheld--
			given++
		}
	case !errors.Is(err, context.Canceled): // by the lease
		l.failed = err
		if l.withheld < limitRunning-minRunning {
			l.withheld++
			given--
		}
	}
	return err
}

// reserveTurn reserves a turn, and returns how long to wait for it. It does not reserve a turn after the end
// of ctx, so that others can have it.
func (l *Limiter) reserveTurn(ctx context.Context) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		return 0, true
	}
	wait = max(time.Until(l.next), 0)
	at := time.Now().Add(wait)
	if end, ok := ctx.Deadline(); ok && at.After(end) {
		return 0, false
	}
	l.next = at.Add(limitInterval)
	return wait, true
}

// overdueError returns the error of a request that was not made.
func (l *Limiter) overdueError(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("%w before its turn, and other requests to the store fail: %w", err, l.failed)
	}
	return fmt.Errorf("%w before its turn among the requests to the store", err)
}

// isAnswer reports whether the store has answered, if only with an error.
func isAnswer(err error) bool {
	return err == nil || IsPermanent(err) || errors.Is(err, ErrNotHeld) || errors.Is(err, ErrNoWorkerID) || errors.Is(err, ErrLocked) || errors.As(err, new(*FloorError))
}
