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
	l.handed.waiters = slices.DeleteFunc(l.handed.waiters, func(w *waiter) bool {
		grant, err := l.answer(w)
		if grant == nil && err == nil {
			return false
		}
		w.reply(grant, err)
		return true
	})
}

// answer returns a grant or an error for a call of Grant. Neither means that the call waits
// for the store.
func (l *lease) answer(w *waiter) (*core.Grant, error) {
	if l.state >= releasing {
		return nil, l.err
	}
	l.reap()
	switch {
	case w.prev != nil && done(w.prev):
		return nil, core.ErrClosed // its generator was closed after the call
	case l.handed.has(w.prev):
		return l.answerUser(w)
	case len(l.handed.grants) > 0:
		return nil, fmt.Errorf("%w: a lease serves one generator at a time", core.ErrInUse)
	}
	return l.answerNew()
}

// answerNew answers a new generator, or one whose grant is another source's.
func (l *lease) answerNew() (*core.Grant, error) {
	a := l.current
	switch {
	case l.state == checking && l.clockAhead > 0:
		if l.claiming.retry.waiting() {
			return nil, l.stalledClaim()
		}
		return nil, nil
	case l.state == held && a.left() == 0 && a.retry.failures == 0:
		a.renewAt = time.Now() // the interval is past; a renewal extends it
		return nil, nil
	case a.usage == unused:
		a.usage = handedOut
		return l.handed.give(a.grant, nil), nil
	}
	return l.rest(nil)
}

// rest is a grant of what is left of the current worker ID's time. No generator uses the last
// grant any more, and up to the fence the interval is this lease's, even if the worker ID is lost.
func (l *lease) rest(prev *core.Grant) (*core.Grant, error) {
	if err := l.current.regrant(l.cfg.Layout); err != nil {
		return nil, err
	}
	l.current.grant.SetFenceError(l.stalled())
	return l.handed.give(l.current.grant, prev), nil
}

// answerUser answers a generator that has a grant of this lease.
func (l *lease) answerUser(w *waiter) (*core.Grant, error) {
	prev := w.prev
	if g := l.current.grant; g != prev && l.current.usage != unused && !done(g) { // its caller did not pass it on to a generator
		if g.Close(); !done(g) {
			return nil, fmt.Errorf("%w: another generator has worker ID %d", core.ErrInUse, l.current.claim.Worker)
		}
		l.reap()
	}
	a, why := l.current, prev.RegrantReason()
	if prev != a.grant && (a.usage == unused || why != core.RegrantRotate) {
		why = core.RegrantLost // by the generator before
	}
	switch {
	case a.usage == unused: // it has replaced prev's
		a.usage = handedOut
		return l.handed.give(a.grant, prev), nil
	case why == core.RegrantExhausted:
		return l.exhausted(a, w.fence)
	case why == core.RegrantLost:
		return l.rest(prev)
	}
	c, now := &l.claiming, time.Now()
	c.rotation.last = now
	if l.state == rotating && c.retry.last.After(c.rotation.since) || l.state == held && c.retry.waiting() {
		return nil, l.stalledClaim() // at once: the caller may hold the connection that the claim needs
	}
	if l.move(asked) {
		c.rotation.reason, c.rotation.since = why, now
		if now.Sub(c.retry.at) > maxDelay { // otherwise a claim failed a moment ago: its delay applies
			c.retry = retry{}
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

// A handed is what the lease has handed to its generator, and the calls of Grant that wait.
type handed struct {
	grants  []outstanding // that generators have or may yet take
	waiters []*waiter
}

// give records that the generator with prev gets a grant.
func (h *handed) give(grant, prev *core.Grant) *core.Grant {
	h.grants = append(h.grants, outstanding{grant, prev})
	return grant
}

// has reports whether a generator has the grant of this lease.
func (h *handed) has(grant *core.Grant) bool {
	return grant != nil && slices.ContainsFunc(h.grants, func(o outstanding) bool { return o.grant == grant })
}

// fail fails the calls of Grant that wait for a claim.
func (h *handed) fail(err error) {
	for _, w := range h.waiters {
		w.reply(nil, err)
	}
	h.waiters = nil
}

// An outstanding grant was handed to a generator, which may still use it.
type outstanding struct {
	grant *core.Grant
	prev  *core.Grant // the generator's grant before; nil: none
}

// done reports whether no generator has the grant or will have it. A generator gives up
// its old grant only after it has taken the new one. So if the old one is done and the new
// one was not taken, the generator was closed in between.
func (o outstanding) done() bool {
	return done(o.grant) || o.prev != nil && done(o.prev) && !o.grant.Attached()
}

// A waiter is a call of Grant. The owner answers it.
type waiter struct {
	prev     *core.Grant
	fence    int64 // the lease's fence at the time of the call
	answered chan struct{}
	grant    *core.Grant
	err      error
}

func (w *waiter) reply(grant *core.Grant, err error) {
	w.grant, w.err = grant, err
	close(w.answered)
}

// reap forgets the grants that no generator uses any more. A generator may still use its
// old worker ID because it could not use the new one: then the lease keeps the old one and
// retires the new.
func (l *lease) reap() {
	l.handed.grants = slices.DeleteFunc(l.handed.grants, outstanding.done)
	if l.state >= releasing || l.current == nil || l.current.usage == unused || !done(l.current.grant) {
		return
	}
	if i := slices.IndexFunc(l.retiring, func(a *assignment) bool { return !done(a.grant) && a.lost == nil }); i >= 0 {
		l.revert(i)
		l.claiming.retry.failed(errDeclined, maxDelay, l.cfg.rand)
	}
}

var errDeclined = errors.New("worker: the generator could not continue with its new worker ID")

// install makes a new assignment the current one.
func (l *lease) install(a *assignment) {
	old := l.current
	l.current = a
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
	other.retry, l.current.retry = retry{}, retry{}
	l.current.renewAt = time.Now()
	if other.lost != nil {
		l.retiring = slices.Delete(l.retiring, i, i+1)
		l.move(claimed)
	}
}
