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
	if l.state >= releasing {
		return nil, l.err
	}
	if prev == nil {
		return l.current.grant, nil
	}
	w := &waiter{prev: prev, fence: l.current.Fence, answered: make(chan struct{})}
	l.waiting = w
	l.handOver() // at once, if no request is needed
	l.mu.Unlock()
	l.run()
	err := wait(ctx, w.answered)
	l.mu.Lock()
	if l.waiting == w { // ctx is done; the lease's request continues
		l.waiting = nil
		return nil, err
	}
	return w.grant, w.err
}

// A waiter holds a waiting call of Grant, which handOver answers.
type waiter struct {
	prev     *core.Grant
	fence    int64 // the lease's fence at the time of the call
	answered chan struct{}
	grant    *core.Grant
	err      error
}

// reply answers the waiting call of Grant, if there is one.
func (l *lease) reply(grant *core.Grant, err error) {
	if w := l.waiting; w != nil {
		l.waiting, w.grant, w.err = nil, grant, err
		close(w.answered)
	}
}

// handOver answers the waiting call of Grant, unless it must wait for the store.
func (l *lease) handOver() {
	if l.state >= releasing || l.waiting == nil {
		return
	}
	if grant, err := l.answer(l.waiting); grant != nil || err != nil {
		l.reply(grant, err)
	}
}

// answer returns a grant or an error for a call of Grant. If both are nil, the call must wait for
// the store.
func (l *lease) answer(w *waiter) (*core.Grant, error) {
	a := l.current
	switch {
	case done(a.grant): // the generator could not use it, for example because its clock is behind NotBefore
		if err := a.regrant(l.cfg.Layout); err != nil {
			return nil, err
		}
		a.grant.SetFenceError(l.stalled())
		return a.grant, nil
	case a.grant != w.prev: // it has replaced prev
		return a.grant, nil
	case w.prev.RegrantReason() == core.RegrantExhausted:
		return l.exhausted(a, w.fence)
	}
	c := &l.claiming
	c.last = time.Now()
	if l.state == rotating && c.retry.failures > 0 || l.state == held && c.retry.waiting() {
		return nil, l.stalledClaim() // at once: the caller may hold the connection that the claim needs
	}
	if l.move(wanted) && time.Since(c.retry.at) > maxDelay { // otherwise a claim failed a moment ago: its delay applies
		c.retry = retry{}
	}
	return nil, nil
}

// exhausted answers a generator that has reached the fence. before is the fence at the time of the
// call.
func (l *lease) exhausted(c *claim, before int64) (*core.Grant, error) {
	if err := l.stalled(); err != nil {
		return nil, err
	}
	if c.Fence > before {
		return c.grant, nil // it has risen
	}
	if l.left(c) > 0 {
		return nil, fmt.Errorf("worker: ids have reached %s, but the clock shows %s: they are drawn faster than the layout allows", show(time.UnixMilli(c.Fence)), show(l.cfg.Now()))
	}
	c.renewAt = time.Now() // the call waits for the renewal
	return nil, nil
}

// install makes a new claim the current one.
func (l *lease) install(c *claim) {
	old := l.current
	l.current = c
	switch {
	case old == nil:
	case old.lost == nil:
		old.grant.SetFenceError(nil) // so that its generator asks for the new one at the fence
		l.retire(old)
		if l.claiming.evading {
			old.grant.Revoke(driver.ErrLocked) // or at once, because it would wait there in vain
		}
	default:
		old.grant.Revoke(old.lost) // its generator asks for the new one at once
		if l.mayBeKept(old) {
			l.retire(old)
		}
	}
}
