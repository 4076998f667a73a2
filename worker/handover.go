package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Grant implements [core.GrantSource], for the lease's one generator.
//
// If prev is nil, as in core.New, Grant returns the grant of the claimed worker ID. If prev is
// lost, or its generator needs another worker ID, Grant returns the grant of another claim. The old
// worker ID is released, with its unused time, as soon as the generator uses the new one. If prev is
// exhausted, Grant returns prev itself once its fence has risen.
//
// Grant makes no request to the store, but waits for the lease's request. That request continues
// after ctx is done, and its outcome serves the next call. While the lease waits to retry after
// a failure, Grant fails at once with a [*RetryError].
func (l *lease) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for before := l.current.Fence; l.state < releasing; {
		if prev == nil {
			return l.current.grant, nil
		}
		grant, err := l.answer(prev, before)
		if grant != nil || err != nil {
			return grant, err
		}
		l.run()
		if err := l.await(ctx); err != nil {
			return nil, err
		}
	}
	return nil, l.err
}

// answer returns a grant that replaces prev, or an error. If both are nil, the call must wait for
// the store. before is the fence at the time of the call.
func (l *lease) answer(prev *core.Grant, before int64) (*core.Grant, error) {
	c := l.current
	switch {
	case isDone(c.grant): // the generator could not use it, for example because its clock is behind NotBefore
		if err := c.regrant(l.cfg.Layout); err != nil {
			return nil, err
		}
		c.grant.SetFenceError(l.stalled())
		return c.grant, nil
	case c.grant != prev: // it has replaced prev
		return c.grant, nil
	case prev.RegrantReason() == core.RegrantExhausted:
		return l.exhausted(c, before)
	}
	claim := &l.claiming
	claim.asked = time.Now()
	if claim.retry.failures > 0 && (l.state != held || time.Now().Before(claim.retry.at)) {
		return nil, l.retryError("claim", claim.retry) // at once: the caller may hold the connection that the claim needs
	}
	if l.state == held {
		l.state = rotating
		if time.Since(claim.retry.at) > maxDelay { // otherwise a claim failed a moment ago: its delay applies
			claim.retry = retry{}
		}
	}
	return nil, nil
}

// exhausted answers a generator that has reached the fence.
func (l *lease) exhausted(c *claim, before int64) (*core.Grant, error) {
	if err := l.stalled(); err != nil {
		return nil, err
	}
	if c.Fence > before {
		return c.grant, nil // it has risen
	}
	if l.left(c) > 0 {
		return nil, fmt.Errorf("worker: ids have reached %s, but the clock shows %s: they are drawn faster than the layout allows", formatTime(time.UnixMilli(c.Fence)), formatTime(l.cfg.Now()))
	}
	c.renewAt = time.Now() // the call waits for the renewal
	return nil, nil
}

// regrant replaces the grant with one for the unused part of its interval.
func (c *claim) regrant(l core.Layout) error {
	from, fence := c.grant.Close(), time.UnixMilli(c.Fence)
	if from.After(fence) { // the last tick is used up, and ends after the fence
		fence = from
	}
	grant, err := core.NewGrant(l, c.Worker, from, fence)
	if err != nil {
		return fmt.Errorf("worker: worker ID %d: %w", c.Worker, err)
	}
	c.grant = grant
	return nil
}

// install makes a new claim the current one.
func (l *lease) install(c *claim) {
	if old := l.current; old != nil {
		switch {
		case old.lost != nil: // its generator asks for the new one at once
			old.grant.Revoke(old.lost)
		case l.claiming.evading: // at the fence it would wait in vain
			old.grant.Revoke(driver.ErrLocked)
		default: // its generator asks for the new one, at the fence at the latest
			old.grant.SetFenceError(nil)
		}
		l.retire(old)
	}
	l.state, l.current = held, c
	l.claiming.evading, l.claiming.retry = false, retry{}
	l.notify(Claimed, c, nil, true)
}
