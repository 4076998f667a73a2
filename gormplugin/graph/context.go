package graph

import (
	"context"
	"errors"
	"time"
)

// joinedContext is a context that also ends with another.
type joinedContext struct {
	context.Context // canceled when other ends
	other           context.Context
	cancel          context.CancelCauseFunc
}

// joinContexts returns a context that ends when either does, with its error. Its values are
// those of ctx. end releases its resources.
func joinContexts(ctx, other context.Context) (joined context.Context, end func()) {
	if other == nil || other == ctx || other.Done() == nil {
		return ctx, func() {}
	}
	inner, cancel := context.WithCancelCause(ctx)
	c := &joinedContext{inner, other, cancel}
	stop := context.AfterFunc(other, c.check)
	return c, func() {
		stop()
		cancel(nil)
	}
}

func (c *joinedContext) check() {
	if c.other.Err() != nil {
		c.cancel(context.Cause(c.other))
	}
}

// Done checks the other context first, because AfterFunc may be late. So a statement never
// starts after it has ended.
func (c *joinedContext) Done() <-chan struct{} {
	c.check()
	return c.Context.Done()
}

// Err returns context.DeadlineExceeded for a deadline of the other context.
func (c *joinedContext) Err() error {
	c.check()
	err := c.Context.Err()
	if err != nil && errors.Is(context.Cause(c.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// Deadline returns the earlier of both.
func (c *joinedContext) Deadline() (time.Time, bool) {
	own, ok := c.Context.Deadline()
	other, also := c.other.Deadline()
	if !ok || also && other.Before(own) {
		return other, also
	}
	return own, ok
}
