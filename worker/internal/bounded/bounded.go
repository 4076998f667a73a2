// Package bounded lets a call return when its context is done, even if the client below
// ignores contexts: go-redis without ContextTimeoutEnabled, a driver of database/sql that
// has only deadlines of its own, a disk that hangs. The client's call continues in its own
// goroutine, and its result is dropped.
//
// Signatures here must not change: worker/etcdstore is a module of its own, and may be
// used with any later version of this one.
package bounded

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// grace is how long a client that heeds its context has to say what it was doing.
	grace = 100 * time.Millisecond
	// most is how many abandoned calls may be under way before others are refused.
	most = 16
)

// Calls counts the calls of one client that were abandoned and have not returned yet. The
// zero value is ready for use.
type Calls struct{ abandoned atomic.Int64 }

type outcome[T any] struct {
	value T
	err   error
}

// Do calls f and returns its result. If f has not returned 100 ms after ctx is done, Do
// abandons it and returns the error of ctx, after the text what. While 16 calls are
// abandoned, Do fails at once. A panic of f becomes an error.
func Do[T any](ctx context.Context, c *Calls, what string, f func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if n := c.abandoned.Load(); n >= most {
		return none, fmt.Errorf("%s: %d requests are under way whose contexts are done: the client ignores contexts, or hangs", what, n)
	}
	began := time.Now()
	outcomes := make(chan outcome[T], 1)
	var ended atomic.Bool // f has returned, or was abandoned: whichever came first
	go func() {
		value, err := Caught(f)
		outcomes <- outcome[T]{value, err}
		if !ended.CompareAndSwap(false, true) {
			c.abandoned.Add(-1)
		}
	}()
	select {
	case o := <-outcomes:
		return o.value, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
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
	return none, fmt.Errorf("%s: no answer in %v, and the client does not heed its context: %w", what, time.Since(began).Round(time.Millisecond), ctx.Err())
}

// Run is Do for a call that has no result.
func Run(ctx context.Context, c *Calls, what string, f func() error) error {
	_, err := Do(ctx, c, what, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// Caught calls f and turns a panic into an error. Do's caller could not recover it, since
// f runs in another goroutine.
func Caught[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the client panicked: %v", p)
		}
	}()
	return f()
}
