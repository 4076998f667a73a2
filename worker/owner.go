package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The owner is the goroutine that lives a lease's life. In each step it acts on the store's
// answers (outcome.go), answers the generator's calls (handover.go), and makes the request
// that is due (next, and requests.go). Events move the lease from state to state by the
// table in lease.go. The owner starts with acquire, ends when nothing is left to release,
// and starts anew if Release is called again.

// run wakes the owner's goroutine, and starts it if it does not run.
func (l *lease) run() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// An owner that woke by itself may have done all already. Another one would have nothing to do but
	// to close the store, when Close is about to do that and return its error.
	over := l.state == ended && len(l.retiring) == 0 && len(l.requests.answers) == 0
	if !l.running && !over {
		l.running = true
		go l.own()
	}
}

// own is the owner's goroutine: it does what is due until there is nothing left to do. A call
// has a goroutine of its own, so that a store that ignores its context blocks no other call.
func (l *lease) own() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := l.step()
		if next.call != nil {
			go func() {
				l.make(next.call)
				l.run()
			}()
		}
		if next.over {
			if next.closeStore {
				_ = l.closeStore() // Open or Close has returned
			}
			return
		}
		timer.Reset(next.wait)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-next.replaced:
		case <-next.reached:
			l.renewEarly()
		}
	}
}

// wait waits until ready is closed, or ctx is done.
func wait(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A plan is what the owner does after a step.
type plan struct {
	call       *call           // to be made now
	wait       time.Duration   // until the next step
	replaced   <-chan struct{} // closed when the generator no longer uses a worker ID that was replaced
	reached    <-chan struct{} // receives a value when the generator waits at the fence
	over       bool            // nothing is left to do
	closeStore bool            // nor does anybody else close the store
}

// step handles what has changed, and plans what follows.
func (l *lease) step() (p plan) {
	defer l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handleAnswers()
	l.checkClock()
	l.handOver()
	l.checkFence()
	c, at, over := l.next(time.Now())
	if c != nil && !l.begin(c) {
		c, at = nil, time.Now() // look again
	}
	for _, c := range l.requests.calls {
		if c.status == pending {
			at = earlier(at, c.deadline)
		}
	}
	p.call, p.wait = c, max(time.Until(at), 0)
	for _, a := range l.retiring {
		if !done(a.grant) {
			p.replaced = a.grant.Done()
		}
	}
	if l.state < releasing && l.current != nil {
		p.reached = l.current.grant.FenceReached()
	}
	if p.over = over; over {
		if len(l.retiring) == 0 {
			l.move(drained)
		}
		l.running = false
		l.ending.storeOver = l.ending.storeOver || l.state == ended && l.ending.releases == 0 // no Close waits to close it
		p.closeStore = l.ending.storeOver
	}
	if l.state != acquiring && l.state != checking { // core.New would trust a wall clock that has just jumped
		l.endOpening()
	}
	if l.ending.releases > 0 {
		close(l.ending.changed)
		l.ending.changed = make(chan struct{})
	}
	return p
}

// begin registers a call, unless two are unanswered already: then the call fails at once. So
// a store that never answers costs two goroutines, and is reported like one that fails.
func (l *lease) begin(c *call) bool {
	if len(l.requests.calls) > 1 {
		l.finish(c, driver.Claim{}, fmt.Errorf("worker: two requests to the store are unanswered, and no other is made until one is answered: %w", context.DeadlineExceeded))
		return false
	}
	switch c.kind {
	case claimCall:
		if l.claiming.sent == nil {
			l.claiming.sent = &sentClaim{request: c.request}
		}
	case releaseCall:
		c.assignment.releaseSent = true
	}
	c.began = time.Now()
	c.deadline = c.began.Add(l.cfg.Timeout + l.cfg.Timeout/grace)
	c.ctx, c.cancel = context.WithTimeout(context.Background(), l.cfg.Timeout)
	l.requests.calls = append(l.requests.calls, c)
	return true
}

// grace: a store has Timeout/grace after its context is done to say what it was doing.
const grace = 20

// make makes a call, unless the store's limiter answers it with the failure of another lease's. It
// notes the answer for the next step.
func (l *lease) make(c *call) {
	defer c.cancel()
	a := answer{call: c, sent: true}
	ask := func() (err error) {
		a.claim, err = c.send(c.ctx)
		return err
	}
	if l.limiter == nil {
		a.err = ask()
	} else {
		a.sent, a.err = l.limiter.Limit(c.ctx, &l.requests.lastFailed, c.sameAs, ask)
	}
	if c.ctx.Err() != nil && errors.Is(a.err, context.DeadlineExceeded) {
		a.err = fmt.Errorf("%w; Config.Timeout is %v", a.err, l.cfg.Timeout)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests.answers = append(l.requests.answers, a)
}

// handleAnswers acts on what the store has answered, and fails the calls that it has not answered in time.
func (l *lease) handleAnswers() {
	answers := l.requests.answers
	l.requests.answers = nil
	for _, a := range answers {
		l.requests.calls = slices.DeleteFunc(l.requests.calls, func(c *call) bool { return c == a.call })
		// A call that is late counts as failed already, but not if the answer says more.
		if a.err == nil || a.call.status == pending || a.call.kind != claimCall && errors.Is(a.err, driver.ErrNotHeld) {
			a.call.unsent = !a.sent && !a.call.repeated
			l.finish(a.call, a.claim, a.err)
		}
	}
	for _, c := range l.requests.calls {
		if c.status == pending && !time.Now().Before(c.deadline) {
			c.status = late
			l.finish(c, driver.Claim{}, fmt.Errorf("worker: %s has not answered a %s in namespace %q within Config.Timeout, %v: %w", l.storeType, c.kind, l.cfg.Namespace, l.cfg.Timeout, context.DeadlineExceeded))
		}
	}
}

// idle is how long the owner sleeps when nothing is due.
const idle = time.Hour

// next is the call that is due now, or when there will be one, unless nothing is left to do.
func (l *lease) next(now time.Time) (c *call, at time.Time, over bool) {
	at = now.Add(idle)
	if slices.ContainsFunc(l.requests.calls, func(c *call) bool { return c.status == pending }) {
		return nil, at, false
	}
	claimAt, renewAt := at, at
	switch l.state {
	case acquiring, lost:
		claimAt = l.claiming.retry.at
	case held:
		renewAt = l.renewAt()
	case checking, rotating:
		claimAt, renewAt = l.claiming.retry.at, l.renewAt()
	case releasing:
		// A claim that may have been granted is repeated, so that it can be released.
		if over = l.claiming.sent == nil || l.claiming.retry.failures > maxResolves; !over {
			claimAt = l.claiming.retry.at
		}
	case ended:
		over = true
	}
	// A claim that was not tried before comes first. Otherwise the earlier request does.
	claimFirst := l.claiming.retry.failures == 0 || !renewAt.Before(claimAt)
	switch {
	case !claimAt.After(now) && (claimFirst || renewAt.After(now)):
		if err := l.outOfTime(); err != nil { // it cannot be granted
			l.failedClaim(err)
			return nil, now, false // look again
		}
		return l.newClaim(), at, false
	case !renewAt.After(now):
		return l.newRenewal(l.current), at, false
	}
	at = earlier(claimAt, renewAt)
	if l.current != nil && l.state < releasing { // the wall clock may jump, and ids may reach the fence
		at = earlier(at, now.Add(min(maxDelay, l.cfg.RenewInterval/2)))
	}
	for _, a := range l.retiring {
		if !l.wantsRelease(a) {
			continue
		}
		if !a.retry.at.After(now) {
			return l.newRelease(a), at, false
		}
		at, over = earlier(at, a.retry.at), false
	}
	return nil, at, over
}

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
	case ahead == 0 && l.state == checking && l.claiming.sent == nil:
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
