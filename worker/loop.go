package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// run wakes the lease's goroutine, or starts it if it is not running. The goroutine starts with
// acquire, ends when nothing is left to release, and starts again if Release is called again.
func (l *lease) run() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	if !l.running && l.state != ended {
		l.running = true
		go l.loop()
	}
}

// loop makes each request when it is due, until nothing is left to do.
func (l *lease) loop() {
	for {
		next := l.step()
		if next.over {
			if next.closes {
				_ = l.closeStore()
			}
			return
		}
		select {
		case <-time.After(next.wait):
		case <-l.wake:
		case <-next.replaced:
		case <-next.reached:
			l.renewEarly()
		case <-next.reachedOld: // nothing raises its fence, and a call with a short deadline would not ask for the new one
			next.old.Revoke(errReplaced)
		}
	}
}

var errReplaced = errors.New("worker: another worker ID was claimed")

// stepResult says what the goroutine waits for after a step.
type stepResult struct {
	wait    time.Duration   // until the next step
	reached <-chan struct{} // receives a value when the generator waits at the fence
	over    bool            // nothing is left to do
	closes  bool            // the goroutine must close the store, because no call of Release waits

	old        *core.Grant     // of a worker ID that was replaced, if the generator still uses it
	replaced   <-chan struct{} // closed when the generator does not use it any more
	reachedOld <-chan struct{} // receives a value when the generator waits at its fence
}

// step makes the request that is due, if there is one, and returns what to wait for next.
func (l *lease) step() (next stepResult) {
	l.mu.Lock()
	defer func() {
		if len(l.reports.events) > 0 { // not by this goroutine: an Observer may call Close, which waits for it
			go l.flush()
		}
		l.mu.Unlock()
	}()
	request, at := l.nextRequest()
	switch {
	case request == nil:
		if len(l.retiring) == 0 {
			l.state = ended
		}
		l.running = false
		acquired := errors.Is(l.err, errReleased) // after a failed acquire, Release is not called
		return stepResult{over: true, closes: (l.state == ended || !acquired) && l.releases == 0}
	case at.After(time.Now()):
		next.wait = time.Until(at)
	default:
		request()
		l.reports.elapsed = 0
		l.signal()
	}
	l.checkFence()
	for _, h := range l.retiring {
		if next.old == nil && !isDone(h.grant) { // the first one: the generator has never taken those after it
			next.old, next.replaced, next.reachedOld = h.grant, h.grant.Done(), h.grant.FenceReached()
		}
	}
	if l.state < releasing && l.current != nil {
		next.reached = l.current.grant.FenceReached()
	}
	return next
}

// nextRequest returns the next request and when it is due, or nil if nothing is left to do.
func (l *lease) nextRequest() (request func(), at time.Time) {
	offer := func(f func(), when time.Time) {
		if request == nil || when.Before(at) {
			request, at = f, when
		}
	}
	unanswered := l.claiming.pending != nil && (l.state < releasing || l.claiming.retry.failures <= maxResolves)
	if l.state.claims() || unanswered {
		offer(l.claim, l.claiming.retry.at)
	}
	if l.state.renews() {
		offer(l.renew, l.current.retry.at)
	}
	for _, h := range l.retiring {
		// After the end, a release is retried while a call of Release waits.
		if l.state < releasing && isDone(h.grant) || l.state >= releasing && (l.releases > 0 || h.retry.failures == 0) {
			offer(func() { l.release(h) }, h.retry.at)
		}
	}
	return request, at
}

// maxResolves limits how often a claim is repeated only so that it can be released.
const maxResolves = 5

// ask makes one request to the store, and returns when it is answered or after Config.Timeout. It
// unlocks l.mu meanwhile.
func (l *lease) ask(ctx context.Context, what string, request func(context.Context) (driver.Lease, error)) (driver.Lease, error) {
	began := time.Now()
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.reports.elapsed = max(time.Since(began), 1) // 0 means no request
	}()
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	what = fmt.Sprintf("worker: %s in namespace %q, by %s", what, l.cfg.Namespace, l.storeType)
	got, err := l.call(ctx, what, func() (driver.Lease, error) { return request(ctx) })
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w; Config.Timeout is %v", err, l.cfg.Timeout)
	}
	return got, err
}

// renew raises the fence of the current worker ID.
func (l *lease) renew() {
	h := l.current
	got, err := l.ask(l.life, "renewal", func(ctx context.Context) (driver.Lease, error) {
		return l.store.Renew(ctx, driver.Renewal{
			Namespace: l.cfg.Namespace, Worker: h.Worker, ClaimID: h.id, FencingToken: h.FencingToken,
			FenceWindow: l.cfg.FenceWindow.Milliseconds(), Keep: l.cfg.NoExpiry,
		})
	})
	l.notifyFloorRaised(got, err)
	switch {
	case l.state >= releasing: // closed meanwhile
	case errors.Is(err, driver.ErrNotHeld):
		l.leaseLost(h, err)
	case err != nil:
		l.renewalFailed(h, err)
	default:
		l.renewalGranted(h, got)
	}
}

// renewalGranted raises the fence, which the store has acknowledged.
func (l *lease) renewalGranted(h *holding, got driver.Lease) {
	h.Fence = max(h.Fence, got.Fence)
	h.grant.RaiseFence(time.UnixMilli(h.Fence))
	h.renewed = time.Now()
	if h.leftThen = l.untilFence(h.Fence); h.leftThen == 0 { // the wall clock has leapt; ids do not follow it beyond the fence
		h.leftThen = l.cfg.FenceWindow
	}
	l.stats.Renewals++
	l.notify(Renewed, h, nil, h.retry.failures > 0)
	h.retry = retry{at: h.renewed.Add(l.cfg.renewIn())}
	if l.state == blocked {
		l.state = held
	}
}

// renewalFailed records that the fence does not rise. If another transaction keeps the record
// locked, and the fence is near, the lease also claims another worker ID.
func (l *lease) renewalFailed(h *holding, err error) {
	h.retry.failed(err, l.cfg.rand)
	l.stats.Failures++
	stalled := l.stalled()
	h.grant.SetFenceError(stalled)
	l.notify(RenewFailed, h, stalled, h.retry.failures == 1)
	if l.state == held && errors.Is(err, driver.ErrLocked) && l.left(h) < l.cfg.FenceWindow/2 {
		l.state = blocked
	}
}

// leaseLost records that another holder has the worker ID. The grant stays valid up to its fence: the
// store has recorded it, and the other holder begins there.
func (l *lease) leaseLost(h *holding, err error) {
	kind := Lost
	if l.stats.Losses++; errors.Is(err, driver.ErrForgotten) {
		kind = Forgotten
		l.stats.Forgotten++
	}
	l.state, h.lost = lost, err
	h.retry, l.claiming.retry = retry{}, retry{}
	h.grant.SetFenceError(nil) // another claim is on its way
	l.notify(kind, h, err, true)
}

// renewEarly brings the next renewal forward, because the generator waits at the fence.
func (l *lease) renewEarly() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.current; h.retry.failures == 0 {
		if early := h.renewed.Add(min(maxDelay/2, l.cfg.RenewInterval/2)); early.Before(h.retry.at) {
			h.retry.at = early
		}
	}
}

// checkFence reports when ids stop, and when they can be issued again.
func (l *lease) checkFence() {
	if l.state >= releasing || l.current == nil {
		return
	}
	switch left := l.left(l.current); {
	case left > 0 && !l.stats.FencedSince.IsZero():
		l.stats.FencedSince = time.Time{}
		l.notify(Resumed, l.current, nil, true)
	case left == 0 && l.stats.FencedSince.IsZero() && (l.current.retry.failures > 0 || l.state == lost):
		l.stats.FencedSince = time.Now()
		l.notify(Fenced, l.current, l.stalled(), true)
	}
}
