package worker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// serveWaiters answers the calls of Grant, except those that wait for the store.
func (l *lease) serveWaiters() {
	l.waiters = slices.DeleteFunc(l.waiters, func(w *waiter) bool {
		grant, err := l.answer(w)
		if grant == nil && err == nil {
			return false
		}
		w.reply(grant, err)
		return true
	})
}

// failWaiters fails the calls of Grant that wait for a claim.
func (l *lease) failWaiters(err error) {
	for _, w := range l.waiters {
		w.reply(nil, err)
	}
	l.waiters = nil
}

// answer returns a grant or an error for a call of Grant. Neither means that the call waits
// for the store.
func (l *lease) answer(w *waiter) (*core.Grant, error) {
	prev := w.prev
	if l.state >= releasing {
		return nil, l.err
	}
	l.reap()
	if prev != nil && done(prev) {
		return nil, core.ErrClosed // its generator was closed after the call
	}
	if !l.isOutstanding(prev) {
		prev = nil // the grant is another source's: the call is for a new generator
	}
	if prev == nil && len(l.outstanding) > 0 {
		return nil, fmt.Errorf("%w: a lease serves one generator at a time", core.ErrInUse)
	}
	if prev != nil && l.current.grant != prev && l.current.usage != unused && !done(l.current.grant) { // its caller did not pass it on to a generator
		if l.current.grant.Close(); !done(l.current.grant) {
			return nil, fmt.Errorf("%w: another generator has worker ID %d", core.ErrInUse, l.current.claim.Worker)
		}
		l.reap()
	}
	a := l.current
	why := core.RegrantLost // by the generator before
	if prev != nil && prev == a.grant {
		why = prev.RegrantReason()
	} else if prev != nil && a.usage != unused && prev.RegrantReason() == core.RegrantRotate {
		why = core.RegrantRotate
	}
	switch {
	case prev == nil && l.state == checking && l.clockAhead > 0:
		if l.claimRetry.waiting() {
			return nil, l.stalledClaim()
		}
		return nil, nil
	case prev == nil && l.state == held && a.left() == 0 && l.renewRetry.failures == 0:
		a.renewAt = time.Now() // the interval is past; a renewal extends it
		return nil, nil
	case a.usage == unused: // of the first claim, or of one that replaced prev's
		a.usage = handedOut
		return l.handOut(a.grant, prev), nil
	case why == core.RegrantExhausted:
		return l.exhausted(a, w.fence)
	case why == core.RegrantLost:
		// No generator uses the last grant any more, and up to the fence the interval is this
		// lease's, even if the worker ID is lost.
		if err := a.regrant(l.cfg.Layout); err != nil {
			return nil, err
		}
		a.grant.SetFenceError(l.stalled())
		return l.handOut(a.grant, prev), nil
	}
	l.rotation.last = time.Now()
	if l.state == rotating && l.claimRetry.last.After(l.rotation.since) || l.state == held && l.claimRetry.waiting() {
		return nil, l.stalledClaim() // at once: the caller may hold the connection that the claim needs
	}
	if l.move(asked) {
		l.rotation.reason, l.rotation.since = why, l.rotation.last
		if l.rotation.since.Sub(l.claimRetry.at) > maxDelay { // otherwise a claim failed a moment ago: its delay applies
			l.claimRetry = retry{}
		}
	}
	return nil, nil
}

// exhausted answers a generator that has reached the fence, which was at `before` at the
// time of the call.
func (l *lease) exhausted(a *assignment, before int64) (*core.Grant, error) {
	if err := l.stalled(); err != nil {
		return nil, err
	}
	if a.fence > before {
		return a.grant, nil // it has risen
	}
	if now, _ := a.clock.read(); a.left() > 0 {
		return nil, fmt.Errorf("worker: ids have reached %s, but the clock shows %s: they are drawn faster than the layout allows", show(time.UnixMilli(a.fence)), show(now))
	}
	a.renewAt = time.Now() // the call waits for the renewal
	return nil, nil
}

// handOut records that the generator with prev gets a grant.
func (l *lease) handOut(grant, prev *core.Grant) *core.Grant {
	l.outstanding = append(l.outstanding, outstanding{grant, prev})
	return grant
}

// isOutstanding reports whether a generator has the grant of this lease.
func (l *lease) isOutstanding(grant *core.Grant) bool {
	return grant != nil && slices.ContainsFunc(l.outstanding, func(o outstanding) bool { return o.grant == grant })
}

// reap forgets the grants that no generator uses any more. A generator may still use its
// old worker ID because it could not use the new one: then the lease keeps the old one and
// retires the new.
func (l *lease) reap() {
	l.outstanding = slices.DeleteFunc(l.outstanding, outstanding.done)
	if l.state >= releasing || l.current == nil || l.current.usage == unused || !done(l.current.grant) {
		return
	}
	if i := slices.IndexFunc(l.retiring, func(a *assignment) bool { return !done(a.grant) && a.lost == nil }); i >= 0 {
		l.revert(i)
		l.claimRetry.failed(errDeclined, maxDelay, l.cfg.rand)
	}
}

var errDeclined = errors.New("worker: the generator could not continue with its new worker ID")

// install makes a new assignment the current one.
func (l *lease) install(a *assignment) {
	old := l.current
	l.current = a
	l.renewRetry = retry{}
	if old == nil {
		return
	}
	if a.claim.Worker == old.claim.Worker && old.lost == nil {
		old.lost = errSuperseded
	}
	if old.lost == nil {
		old.grant.SetFenceError(nil) // so that at the fence its generator asks for the new one
		l.retire(old)
		return
	}
	// The generator continues above its last id, which may be ahead of the wall clock,
	// because the old claim may have begun ahead of it. So the new clock must not be lower.
	if now, _ := old.clock.read(); a.clock.atLeast(now) {
		a.renewAt = time.Now()
	}
	old.grant.Revoke(old.lost) // it asks for the new one at once
}

var errSuperseded = errors.New("worker: the worker ID was claimed again, because its claim had expired")

// retire schedules the release of an assignment for when no generator has its grant.
func (l *lease) retire(a *assignment) {
	a.retry = retry{}
	l.retiring = append(l.retiring, a)
}

// revert makes a retiring assignment, which its generator still uses, the current one
// again, and retires the new one.
func (l *lease) revert(i int) {
	l.current, l.retiring[i] = l.retiring[i], l.current
	other := l.retiring[i]
	other.grant.Close()
	other.retry = retry{}
	l.renewRetry = retry{}
	l.current.renewAt = time.Now()
	if other.lost != nil {
		l.retiring = slices.Delete(l.retiring, i, i+1)
		l.move(claimed)
	}
}
