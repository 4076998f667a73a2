package worker

import "time"

// idle is how long the owner sleeps when nothing is due.
const idle = time.Hour

// next is the call that is due now, or when there will be one.
func (l *lease) next(now time.Time) (c *call, at time.Time) {
	at = now.Add(idle)
	if l.requests.busy() {
		return nil, at
	}
	due := func(when time.Time) bool {
		at = earlier(at, when)
		return !when.After(now)
	}
	switch l.state {
	case held, checking, rotating:
		// A claim that was not tried before comes first. Otherwise the earlier request does.
		first := l.claiming.retry.failures == 0 || !l.renewAt().Before(l.claiming.retry.at)
		if l.state != held && first && due(l.claiming.retry.at) {
			return l.claimNow(at)
		}
		if due(l.renewAt()) {
			return l.newRenewal(l.current), at
		}
		if l.state != held && due(l.claiming.retry.at) {
			return l.claimNow(at)
		}
		at = earlier(at, now.Add(l.pollInterval()))
	case acquiring, lost:
		if due(l.claiming.retry.at) {
			return l.claimNow(at)
		}
		if l.state == lost {
			at = earlier(at, now.Add(l.pollInterval()))
		}
	case releasing:
		// A claim that may have been granted is repeated, so that it can be released.
		if l.claiming.resolves() && due(l.claiming.retry.at) {
			return l.claimNow(at)
		}
	}
	for _, a := range l.retiring {
		if unused := l.state >= releasing || done(a.grant); unused && l.wantsRelease(a) && due(a.retry.at) {
			return l.newRelease(a), at
		}
	}
	return nil, at
}

// claimNow is the claim that is due, unless it cannot be granted.
func (l *lease) claimNow(at time.Time) (*call, time.Time) {
	if err := l.outOfTime(); err != nil {
		l.failedClaim(err)
		return nil, time.Now() // look again
	}
	return l.newClaim(), at
}

// pollInterval is how often the owner checks for a jump of the wall clock, and whether ids
// have reached the fence.
func (l *lease) pollInterval() time.Duration { return min(maxDelay, l.cfg.RenewInterval/2) }

// renewAt is when the current worker ID is due for renewal. That is earlier than planned if
// the wall clock runs faster than the monotonic one.
func (l *lease) renewAt() time.Time {
	if l.current.retry.failures > 0 {
		return l.current.retry.at
	}
	if l.current.left() < (l.cfg.FenceWindow-l.cfg.RenewInterval)/2 {
		return l.earlyRenewal()
	}
	return l.current.renewAt
}

// renewEarly is called when a generator waits at the fence.
func (l *lease) renewEarly() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state < releasing && l.current != nil {
		l.current.renewAt = l.earlyRenewal()
	}
}

// earlyRenewal is the earliest time of a renewal that is needed before it is due.
func (l *lease) earlyRenewal() time.Time {
	return earlier(l.current.renewAt, l.current.renewed.Add(min(maxDelay/2, l.cfg.RenewInterval/2)))
}

// checkClock notices jumps of the wall clock.
func (l *lease) checkClock() {
	if l.state != held && l.state != checking {
		return
	}
	_, ahead := l.current.clock.read()
	l.clockAhead = ahead
	switch {
	case ahead > 0 && l.state == held:
		l.move(clockLeapt)
		l.claiming.retry = retry{}
		l.notify(ClockUnconfirmed, l.current, nil, true)
	case ahead == 0 && l.state == checking && l.claiming.state == noClaim:
		l.move(clockBack)
	}
}

// checkFence notices when ids stop, and when they can be issued again.
func (l *lease) checkFence() {
	if l.state >= releasing || l.current == nil {
		return
	}
	switch left := l.current.left(); {
	case left > 0 && !l.fenced.IsZero():
		l.fenced = time.Time{}
		l.notify(Resumed, l.current, nil, true)
	case left == 0 && l.fenced.IsZero() && (l.current.retry.failures > 0 || l.state == lost):
		l.fenced = time.Now()
		l.notify(Fenced, l.current, l.stalled(), true)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
