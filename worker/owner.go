package worker

import (
	"context"
	"slices"
	"time"
)

// run starts the owner if there is none, and wakes it; l.mu is held.
func (l *Lease) run() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	if !l.owned && l.sleep == nil {
		l.owned = true
		go l.own()
	}
}

// own is the owner: it does what is due until there is nothing left to do.
func (l *Lease) own() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, reached, left, more := l.step()
		if !more {
			return
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-left:
		case <-reached:
			l.mu.Lock()
			l.renewEarly()
			l.mu.Unlock()
		}
	}
}

// wait waits until ready is closed, or ctx is done. In a test that plays the owner it also
// steps the lease.
func (l *Lease) wait(ctx context.Context, ready <-chan struct{}) error {
	for l.sleep != nil {
		l.step()
		select {
		case <-ready:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		default:
			l.sleep(time.Millisecond)
		}
	}
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	idle  = time.Hour // when nothing is due
	grace = 20        // a store has Timeout/grace after its context is done to say what it was doing
)

// step handles what has changed, and makes the call that is due, if any. It returns how
// long until something else is due, the channels that may wake the owner earlier, and
// whether anything is left to do.
func (l *Lease) step() (wait time.Duration, reached, left <-chan struct{}, more bool) {
	l.mu.Lock()
	l.takeAnswers()
	l.expire()
	l.settle()
	l.lookAtClock()
	l.answerAsks()
	l.lookAtFence()
	c, at := l.next(time.Now())
	if c != nil && !l.begin(c) {
		c, at = nil, time.Now() // look again
	}
	for _, c := range l.calls {
		if !c.late {
			at = earlier(at, c.deadline)
		}
	}
	if more = c != nil || !l.finished(); !more {
		l.owned = false
	}
	if l.state < releasing && l.current != nil {
		reached = l.current.grant.FenceReached()
	}
	left = l.leaver()
	l.mu.Unlock()
	l.flush()
	if c != nil {
		l.send(c)
		if l.sleep != nil {
			at = time.Now() // it is answered
		}
	}
	return max(time.Until(at), 0), reached, left, more
}

// next is the call that is due now, or when there will be one.
func (l *Lease) next(now time.Time) (c *call, at time.Time) {
	at = now.Add(idle)
	if l.busy() {
		return nil, at
	}
	due := func(when time.Time) bool {
		at = earlier(at, when)
		return !when.After(now)
	}
	switch l.state {
	case held, checking, rotating:
		// A claim that was not tried before comes first. Otherwise the earlier request does.
		first := l.claims.failures == 0 || !l.renewAt().Before(l.claims.at)
		if l.state != held && first && due(l.claims.at) {
			return l.claimNow(at)
		}
		if due(l.renewAt()) {
			return l.newRenewal(l.current), at
		}
		if l.state != held && due(l.claims.at) {
			return l.claimNow(at)
		}
		at = earlier(at, now.Add(l.glance()))
	case acquiring, lost:
		if due(l.claims.at) {
			return l.claimNow(at)
		}
		if l.state == lost {
			at = earlier(at, now.Add(l.glance()))
		}
	case releasing:
		// A claim that may have been granted is repeated, so that it can be released.
		if l.token != "" && l.claims.failures <= mostResolves && due(l.claims.at) {
			return l.claimNow(at)
		}
	}
	for _, h := range l.leaving {
		if left := l.state >= releasing || done(h.grant); left && l.wantsRelease(h) && due(h.retry.at) {
			return l.newRelease(h), at
		}
	}
	return nil, at
}

// claimNow is the claim that is due, unless it cannot be granted.
func (l *Lease) claimNow(at time.Time) (*call, time.Time) {
	if err := l.outOfTime(); err != nil {
		l.failedClaim(err)
		return nil, time.Now() // look again
	}
	return l.newClaim(), at
}

// mostResolves limits how often a claim is repeated only to be released.
const mostResolves = 5

// glance is how often the owner checks for a leap of the wall clock, and whether ids have
// reached the fence.
func (l *Lease) glance() time.Duration { return min(maxDelay, l.cfg.RenewInterval/2) }

// renewAt is when the current worker ID is due for renewal. That is earlier than planned if
// the wall clock runs faster than the monotonic one.
func (l *Lease) renewAt() time.Time {
	if l.renewal.failures > 0 {
		return l.renewal.at
	}
	if l.current.left() < (l.cfg.FenceWindow-l.cfg.RenewInterval)/2 {
		return earlier(l.current.renewAt, l.current.renewed.Add(l.spacing()))
	}
	return l.current.renewAt
}

// renewEarly is called when a generator waits at the fence.
func (l *Lease) renewEarly() {
	if l.state < releasing && l.current != nil {
		l.current.renewAt = earlier(l.current.renewAt, l.current.renewed.Add(l.spacing()))
	}
}

// spacing is the shortest time between two renewals, whatever generators do.
func (l *Lease) spacing() time.Duration { return min(maxDelay/2, l.cfg.RenewInterval/2) }

// leaver is closed when a generator no longer uses a worker ID that was replaced.
func (l *Lease) leaver() <-chan struct{} {
	for _, h := range slices.Backward(l.leaving) {
		if !done(h.grant) {
			return h.grant.Done()
		}
	}
	return nil
}

// lookAtClock notices leaps of the wall clock.
func (l *Lease) lookAtClock() {
	if l.state != held && l.state != checking {
		return
	}
	_, ahead := l.current.clock.read()
	l.stats.ClockAhead = ahead
	switch {
	case ahead > 0 && l.state == held:
		l.move(clockLeapt)
		l.claims = retry{}
		l.notify(ClockUnconfirmed, l.current, nil, true)
	case ahead == 0 && l.state == checking && l.token == "":
		l.move(clockBack)
	}
}

// lookAtFence notices when ids stop, and when they can be issued again.
func (l *Lease) lookAtFence() {
	if l.state >= releasing || l.current == nil {
		return
	}
	switch left := l.current.left(); {
	case left > 0 && !l.fenced.IsZero():
		l.fenced = time.Time{}
		l.notify(Resumed, l.current, nil, true)
	case left == 0 && l.fenced.IsZero() && (l.renewal.failures > 0 || l.state == lost):
		l.fenced = time.Now()
		l.notify(Fenced, l.current, l.stalled(), true)
	}
}

// move applies an event to the state. It reports whether the event has a line for the state.
func (l *Lease) move(e event) bool {
	next, ok := l.state.on(e)
	l.state = next
	return ok
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
