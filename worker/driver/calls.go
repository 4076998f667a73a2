package driver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	callGrace    = 100 * time.Millisecond // how long a client that heeds its context has to say what it was doing
	maxAbandoned = 16                     // so many abandoned calls may be under way before others are refused
)

// Calls counts the calls of one client that [Do] has abandoned and that have not returned
// yet. The zero value is ready for use.
type Calls struct{ abandoned atomic.Int64 }

var errGoexit = errors.New("the client ended its goroutine")

// Do lets a call return when its context is done, even if the client below ignores contexts:
// a driver that has only deadlines of its own, or a disk that hangs.
//
// Do calls f in a goroutine of its own and returns its result. If f has not returned 100 ms
// after ctx is done, Do abandons it and returns the error of ctx after the text what; the
// result of f is dropped. While 16 calls are abandoned, Do fails at once. A panic of f
// becomes an error, and so does runtime.Goexit.
func Do[T any](ctx context.Context, c *Calls, what string, f func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if n := c.abandoned.Load(); n >= maxAbandoned {
		return none, fmt.Errorf("%s: %d earlier requests have not returned, although their contexts are done: the client hangs, or ignores contexts", what, n)
	}
	type outcome struct {
		value T
		err   error
	}
	began := time.Now()
	outcomes := make(chan outcome, 1)
	var ended atomic.Bool // f has returned, or was abandoned, whichever came first
	go func() {
		o := outcome{err: errGoexit}
		defer func() {
			if p := recover(); p != nil { // the caller is in another goroutine and could not
				o = outcome{err: fmt.Errorf("the client panicked: %v", p)}
			}
			outcomes <- o
			if !ended.CompareAndSwap(false, true) {
				c.abandoned.Add(-1)
			}
		}()
		o.value, o.err = f()
	}()
	select {
	case o := <-outcomes:
		return o.value, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(callGrace)
	defer timer.Stop()
	select {
	case o := <-outcomes:
		return o.value, o.err
	case <-timer.C:
	}
	c.abandoned.Add(1) // before f can subtract it again
	if !ended.CompareAndSwap(false, true) {
		c.abandoned.Add(-1)
		o := <-outcomes
		return o.value, o.err
	}
	return none, fmt.Errorf("%s: no answer in %v, and the client ignores its context: %w", what, time.Since(began).Round(time.Millisecond), ctx.Err())
}
