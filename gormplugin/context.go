package gormplugin

import (
	"context"
	"errors"
	"time"
)

// bothContexts is ctx, and ends with other too.
type bothContexts struct {
	context.Context // ctx, cancelled when other ends
	other           context.Context
	cancel          context.CancelCauseFunc
}

// both gives a context that ends when either does, with its error; its values are those of ctx.
// end releases what it holds.
func both(ctx, other context.Context) (joined context.Context, end func()) {
	if other == nil || other == ctx || other.Done() == nil {
		return ctx, func() {}
	}
	inner, cancel := context.WithCancelCause(ctx)
	c := &bothContexts{inner, other, cancel}
	stop := context.AfterFunc(other, c.look)
	return c, func() {
		stop()
		cancel(nil)
	}
}

func (c *bothContexts) look() {
	if c.other.Err() != nil {
		c.cancel(context.Cause(c.other))
	}
}

// Done is looked at before each statement, and then the other has ended for certain if it has:
// AfterFunc may be late.
func (c *bothContexts) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

// Err tells a deadline of the other from a cancellation.
func (c *bothContexts) Err() error {
	c.look()
	err := c.Context.Err()
	if err != nil && errors.Is(context.Cause(c.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// Deadline is the earlier of both.
func (c *bothContexts) Deadline() (time.Time, bool) {
	one, ok := c.Context.Deadline()
	two, also := c.other.Deadline()
	if !ok || also && two.Before(one) {
		return two, also
	}
	return one, ok
}
