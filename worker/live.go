package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// run wakes the lease's goroutine, or starts it if it is not running. The goroutine starts with
// acquire, ends when nothing is left to release, and starts again if Release is called again.
func (l *lease) run() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running && l.state != ended {
		l.running = true
		go l.live()
	}
}

// live makes each request when it is due, until nothing is left to do.
func (l *lease) live() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := l.step()
		switch {
		case next.over:
			if next.ended {
				_ = l.closeStore() // unless Close does
			}
			return
		case next.wait == 0:
			continue
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

// A plan says what the goroutine waits for after a step.
type plan struct {
	wait     time.Duration   // until the next step
	replaced <-chan struct{} // closed when the generator no longer uses a worker ID that was replaced
	reached  <-chan struct{} // receives a value when the generator waits at the fence
	over     bool            // nothing is left to do
	ended    bool            // and no call of Release waits
}

// step makes the request that is due, if there is one, and returns what to wait for next.
func (l *lease) step() (p plan) {
	defer l.flush()
	l.mu.Lock()
	l.handOver()
	due, at := l.due()
	if due != nil && !at.After(time.Now()) {
		l.mu.Unlock()
		due()
		l.mu.Lock()
		l.reports.elapsed = 0
		l.handOver()
	} else {
		p.over = due == nil
		p.wait = max(time.Until(at), 0)
	}
	defer l.mu.Unlock()
	l.checkFence()
	for _, c := range l.retiring {
		if !done(c.grant) {
			p.replaced = c.grant.Done()
		}
	}
	if l.state < releasing && l.current != nil {
		p.reached = l.current.grant.FenceReached()
	}
	if p.over {
		if len(l.retiring) == 0 {
			l.move(drained)
		}
		l.running = false
		p.ended = (l.state == ended || l.failed) && l.releases == 0 // otherwise Close closes the store, and returns its error
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return p
}

// due returns the next request and when it is due, or nil if nothing is left to do.
func (l *lease) due() (request func(), at time.Time) {
	offer := func(f func(), when time.Time) {
		if request == nil || when.Before(at) {
			request, at = f, when
		}
	}
	claims := l.state == acquiring || l.state == rotating || l.state == lost || l.claiming.pending != nil
	if claims && (l.state < releasing || l.claiming.retry.failures <= maxResolves) && l.state != ended {
		offer(l.claim, l.claiming.retry.at)
	}
	if l.state == held || l.state == rotating {
		offer(l.renew, l.renewAt())
	}
	for _, c := range l.retiring {
		if l.wantsRelease(c) {
			offer(func() { l.release(c) }, c.retry.at)
		}
	}
	return request, at
}

// maxResolves limits how often a claim is repeated only so that it can be released.
const maxResolves = 5

// ask makes one request to the store, and returns when it is answered or after Config.Timeout.
func (l *lease) ask(ctx context.Context, what string, request func(context.Context) (driver.Lease, error)) (driver.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	began := time.Now()
	what = fmt.Sprintf("worker: %s in namespace %q, by %s", what, l.cfg.Namespace, l.storeType)
	got, err := l.call(ctx, what, func() (driver.Lease, error) { return request(ctx) })
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w; Config.Timeout is %v", err, l.cfg.Timeout)
	}
	l.mu.Lock()
	l.reports.elapsed = max(time.Since(began), 1) // 0 means no request
	l.mu.Unlock()
	return got, err
}

// renew raises the fence of the current worker ID.
func (l *lease) renew() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.mu.Lock()
	if l.state >= releasing {
		l.mu.Unlock()
		return
	}
	l.renewing = cancel
	c := l.current
	r := driver.Renewal{
		Namespace: l.cfg.Namespace, Worker: c.Worker, ClaimID: c.id, FencingToken: c.FencingToken,
		FenceWindow: l.cfg.FenceWindow.Milliseconds(), Keep: l.cfg.NoExpiry,
	}
	l.mu.Unlock()
	got, err := l.ask(ctx, "renewal", func(ctx context.Context) (driver.Lease, error) { return l.store.Renew(ctx, r) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewing = nil
	l.notifyForgot(got, err)
	switch {
	case l.state >= releasing: // closed meanwhile
	case err == nil:
		l.renewed(c, got)
	case errors.Is(err, driver.ErrNotHeld):
		l.lose(c, err)
	default:
		l.failedRenewal(c, err)
	}
}

// renewed raises the fence, which the store has acknowledged.
func (l *lease) renewed(c *claim, got driver.Lease) {
	c.Fence = max(c.Fence, got.Fence)
	c.grant.RaiseFence(time.UnixMilli(c.Fence))
	c.renewed = time.Now()
	if c.left = l.untilFence(c.Fence); c.left == 0 { // the wall clock has leapt; ids do not follow it beyond the fence
		c.left = l.cfg.FenceWindow
	}
	c.renewAt = c.renewed.Add(l.cfg.renewIn())
	l.count.renewals++
	failed := c.retry.failures > 0
	c.retry = retry{}
	l.notify(Renewed, c, nil, failed)
	if l.claiming.evading {
		l.claiming.evading = false
		l.move(settled)
	}
}

// failedRenewal records that the fence does not rise. If another transaction keeps the record
// locked, and the fence is near, the lease also claims another worker ID.
func (l *lease) failedRenewal(c *claim, err error) {
	c.retry.failed(err, l.cfg.rand)
	l.count.failures++
	stalled := l.stalledRenewal()
	c.grant.SetFenceError(stalled)
	l.notify(RenewFailed, c, stalled, c.retry.failures == 1)
	if errors.Is(err, driver.ErrLocked) && l.left(c) < l.cfg.FenceWindow/2 && l.move(wanted) {
		l.claiming.evading = true
	}
}

// lose records that another holder has the worker ID. The grant stays valid up to its fence: the
// store has recorded it, and the other holder begins there.
func (l *lease) lose(c *claim, err error) {
	if c != l.current { // its generator has declined it in the meantime
		return
	}
	c.lost = err
	kind := Lost
	if l.count.losses++; errors.Is(err, driver.ErrForgotten) {
		kind = Forgotten
		l.count.forgotten++
	}
	l.move(taken)
	c.retry, l.claiming.retry, l.claiming.evading = retry{}, retry{}, false
	c.grant.SetFenceError(nil) // another claim is on its way
	l.notify(kind, c, c.lost, true)
}

// renewAt returns when the current worker ID is due for renewal.
func (l *lease) renewAt() time.Time {
	if c := l.current; c.retry.failures > 0 {
		return c.retry.at
	}
	return l.current.renewAt
}

// renewEarly brings the next renewal forward, because the generator waits at the fence.
func (l *lease) renewEarly() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.current; l.state < releasing && c != nil {
		if early := c.renewed.Add(min(maxDelay/2, l.cfg.RenewInterval/2)); early.Before(c.renewAt) {
			c.renewAt = early
		}
	}
}

// release returns the worker ID to the store, from the first instant that no id carries. It closes
// the grant first, so that no id is issued under the claim any more, whatever the store answers
// and whenever the request arrives.
func (l *lease) release(c *claim) {
	l.mu.Lock()
	c.releaseSent = true
	unused := max(c.grant.Close().UnixMilli(), c.Start)
	r := driver.Release{Namespace: l.cfg.Namespace, Worker: c.Worker, ClaimID: c.id, FencingToken: c.FencingToken, Unused: unused}
	l.mu.Unlock()
	_, err := l.ask(context.Background(), "release", func(ctx context.Context) (driver.Lease, error) { return driver.Lease{}, l.store.Release(ctx, r) })
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || errors.Is(err, driver.ErrNotHeld) { // it was released before, or another claim has it
		l.drop(c)
		l.notify(Released, c, nil, true)
		return
	}
	c.retry.failed(err, l.cfg.rand)
	l.count.failures++
	if l.state < releasing && !l.cfg.NoExpiry && time.Since(c.retry.since) > 2*l.cfg.FenceWindow { // it has expired
		l.drop(c)
		l.notify(ReleaseFailed, c, err, true)
	}
}

// checkFence reports when ids stop, and when they can be issued again.
func (l *lease) checkFence() {
	if l.state >= releasing || l.current == nil {
		return
	}
	switch left := l.left(l.current); {
	case left > 0 && !l.fenced.IsZero():
		l.fenced = time.Time{}
		l.notify(Resumed, l.current, nil, true)
	case left == 0 && l.fenced.IsZero() && (l.current.retry.failures > 0 || l.state == lost):
		l.fenced = time.Now()
		l.notify(Fenced, l.current, l.stalled(), true)
	}
}
