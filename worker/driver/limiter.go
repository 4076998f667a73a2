package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Limiter limits the requests to one store, for all leases that share it. At most 16 requests are
// under way. After one that the store did not answer, requests are made one by one, 40 a second,
// until the store answers one. The zero value is ready for use.
//
// A store has one as a field, and makes the requests of its leases by [Limiter.Do].
type Limiter struct {
	mu      sync.Mutex
	running int         // requests under way
	waiting []chan bool // requests that wait, in the order in which they came; each gets a value when it may be made
	failed  error       // of the last request, if the store did not answer it
	next    time.Time   // while failed: when the next one may be made
	timed   bool        // a timer admits the next one
}

const (
	limitRunning  = 16
	limitInterval = 25 * time.Millisecond // between requests to a store that fails
)

// Do calls ask when its turn has come. If ctx is done before, it returns an error with the last
// failure of the store, and has not called ask.
func (l *Limiter) Do(ctx context.Context, ask func() error) error {
	turn := make(chan bool, 1)
	l.mu.Lock()
	l.waiting = append(l.waiting, turn)
	l.admit()
	l.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		if !l.leave(turn) {
			l.end(nil, false) // its turn came just now
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.failed != nil {
			return fmt.Errorf("driver: %w, and the requests of other leases fail: %w", ctx.Err(), l.failed)
		}
		return fmt.Errorf("driver: %w, in the queue of the store's requests", ctx.Err())
	}
	err := errors.New("driver: the request panicked")
	defer func() { l.end(err, true) }()
	err = ask()
	return err
}

// leave removes a request from the queue. It reports false if that has been admitted.
func (l *Limiter) leave(turn chan bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.waiting {
		if other == turn {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// end notes the outcome of a request, if it was made.
func (l *Limiter) end(err error, made bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	switch {
	case !made || errors.Is(err, context.Canceled): // says nothing about the store
	case answered(err):
		l.failed = nil
	default:
		if l.failed == nil {
			l.next = time.Now().Add(limitInterval)
		}
		l.failed = err
	}
	l.admit()
}

// admit lets requests pass; l.mu is held.
func (l *Limiter) admit() {
	for len(l.waiting) > 0 && l.running < limitRunning {
		if l.failed != nil {
			now := time.Now()
			if wait := l.next.Sub(now); wait > 0 {
				if !l.timed {
					l.timed = true
					time.AfterFunc(wait, l.tick)
				}
				return
			}
			l.next = now.Add(limitInterval)
		}
		l.running++
		l.waiting[0] <- true
		l.waiting = l.waiting[1:]
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
