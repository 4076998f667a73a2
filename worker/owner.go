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
// that is due (schedule.go, requests.go). Events move the lease from state to state by the
// table in state.go. The owner starts with acquire, ends when nothing is left to release,
// and starts anew if Release is called again.

// run starts the owner's goroutine if it does not run, and wakes it; l.mu is held.
func (l *lease) run() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	if !l.running && l.sleep == nil {
		l.running = true
		go l.own()
	}
}

// own is the owner's goroutine: it does what is due until there is nothing left to do.
func (l *lease) own() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, reached, left, more := l.step()
		if !more {
			l.mu.Lock()
			over := l.storeOver
			l.mu.Unlock()
			if over {
				_ = l.closeStore() // Open or Close has returned
			}
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
func (l *lease) wait(ctx context.Context, ready <-chan struct{}) error {
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

// step handles what has changed, and makes the call that is due, if any. It returns how
// long until something else is due, the channels that may wake the owner earlier, and
// whether anything is left to do.
func (l *lease) step() (wait time.Duration, reached, left <-chan struct{}, more bool) {
	l.mu.Lock()
	l.handleAnswers()
	l.expire()
	l.reap()
	l.checkClock()
	l.serveWaiters()
	l.checkFence()
	c, at := l.next(time.Now())
	if c != nil && !l.begin(c) {
		c, at = nil, time.Now() // look again
	}
	for _, c := range l.calls {
		if c.status == pending {
			at = earlier(at, c.deadline)
		}
	}
	if more = c != nil || !l.finished(); !more {
		l.running = false
		l.storeOver = l.storeOver || l.state == ended && l.releases == 0 // no Close waits to close it
	}
	if l.state < releasing && l.current != nil {
		reached = l.current.grant.FenceReached()
	}
	left = l.replaced()
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

// replaced returns a channel that is closed when a generator no longer uses a worker ID
// that was replaced.
func (l *lease) replaced() <-chan struct{} {
	for _, a := range slices.Backward(l.retiring) {
		if !done(a.grant) {
			return a.grant.Done()
		}
	}
	return nil
}

// begin registers a call, unless two are unanswered already: then the call fails at once. So
// a store that never answers costs two goroutines, and is reported like one that fails.
func (l *lease) begin(c *call) bool {
	if len(l.calls) > 1 {
		l.failed(c, fmt.Errorf("worker: two requests to the store are unanswered, and no other is made until one is answered: %w", context.DeadlineExceeded))
		return false
	}
	switch c.kind {
	case claimCall:
		if l.claim == noClaim {
			l.setClaim(claimSent, c.request)
		}
	case releaseCall:
		c.assignment.usage = releaseSent
	}
	c.began = time.Now()
	c.deadline = c.began.Add(l.cfg.Timeout + l.cfg.Timeout/grace)
	l.calls = append(l.calls, c)
	return true
}

// grace: a store has Timeout/grace after its context is done to say what it was doing.
const grace = 20

// send makes a call in its own goroutine, so that a store that ignores its context blocks
// no other call.
func (l *lease) send(c *call) {
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
	l.mu.Lock()
	c.cancel = cancel
	l.mu.Unlock()
	ask := func() {
		defer cancel()
		claim, err := c.ask(ctx)
		if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w; Config.Timeout is %v", err, l.cfg.Timeout)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.answers = append(l.answers, answer{c, claim, err})
		l.run()
	}
	if l.sleep != nil {
		ask()
		return
	}
	go ask()
}

// handleAnswers acts on what the store has answered.
func (l *lease) handleAnswers() {
	answers := l.answers
	l.answers = nil
	for _, a := range answers {
		l.calls = slices.DeleteFunc(l.calls, func(c *call) bool { return c == a.call })
		switch {
		case a.err == nil:
			l.succeeded(a.call, a.claim)
		case a.call.status == pending: // else it counts as failed already
			l.failed(a.call, a.err)
		case a.call.kind != claimCall && errors.Is(a.err, driver.ErrNotHeld):
			l.failed(a.call, a.err)
		}
	}
}

// expire fails the calls that the store has not answered in time.
func (l *lease) expire() {
	for _, c := range l.calls {
		if c.status == pending && !time.Now().Before(c.deadline) {
			c.status = late
			l.failed(c, fmt.Errorf("worker: %s has not answered a %s in namespace %q within Config.Timeout, %v: %w", l.storeType, c.kind, l.cfg.Namespace, l.cfg.Timeout, context.DeadlineExceeded))
		}
	}
}
