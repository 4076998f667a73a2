package worker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// takeAnswers acts on what the store has answered.
func (l *Lease) takeAnswers() {
	answers := l.answers
	l.answers = nil
	for _, a := range answers {
		l.calls = slices.DeleteFunc(l.calls, func(c *call) bool { return c == a.call })
		switch {
		case a.err == nil:
			l.succeeded(a)
		case !a.call.late: // else it counts as failed already
			l.failed(a.call, a.err)
		case a.call.kind != claimCall && errors.Is(a.err, driver.ErrNotHeld):
			l.failed(a.call, a.err)
		}
	}
}

func (l *Lease) succeeded(a answer) {
	switch a.call.kind {
	case claimCall:
		if known := a.call.known; known == nil || known.Worker != a.claim.Worker || known.FencingToken != a.claim.FencingToken {
			l.granted(a.call.request, a.claim)
		}
	case renewCall:
		l.renewed(a.call.h, a.call.until)
	case releaseCall:
		l.released(a.call.h)
	}
}

func (l *Lease) failed(c *call, err error) {
	switch c.kind {
	case claimCall:
		if c.unsent {
			l.token = "" // nothing was granted
		}
		l.failedClaim(l.unskew(err))
	case renewCall:
		l.failedRenewal(c.h, err)
	case releaseCall:
		l.failedRelease(c.h, err)
	}
}

// granted replaces the current claim by a new one. If the new one is not needed any more,
// because its caller gave up or another claim was faster, it is released.
func (l *Lease) granted(r driver.Request, c driver.Claim) {
	if r.ClaimID == l.token {
		l.token, l.unsure = "", false
	}
	for _, other := range l.calls {
		if other.kind == claimCall && other.request.ClaimID == r.ClaimID {
			other.known = &c
		}
	}
	h, err := l.hold(r, c)
	if err != nil {
		l.failedClaim(err)
		return
	}
	l.stats.Claims++
	again := l.current != nil && c.Worker == l.current.claim.Worker // then the claim before is over
	wanted := again || l.state == acquiring || l.state == rotating || l.state == lost
	if !wanted || !l.move(claimed) {
		h.grant.Close()
		l.leave(h)
		return
	}
	l.replace(h)
	l.notify(Claimed, h, nil, true)
	l.acquireEnds()
}

// failedClaim acts on a claim that was refused or not answered.
func (l *Lease) failedClaim(err error) {
	var none *NoWorkerIDError
	isNone := errors.As(err, &none)
	// Stores compare clocks and layouts before they look for the token. So nothing was
	// granted, unless an earlier attempt was not answered.
	if known := isNone || driver.IsPermanent(err) && !l.unsure; known {
		l.token = ""
	}
	l.unsure = l.token != ""
	if isNone && l.state == checking { // stores compare the clocks before they look for a worker ID
		l.move(confirmed)
		l.claims = retry{}
		l.current.clock.follow()
		l.current.renewAt = time.Now()
		return
	}
	longest := maxDelay
	if l.state == checking && driver.IsPermanent(err) { // the clock may stay wrong for days
		longest = max(l.cfg.RenewInterval, maxDelay)
	}
	l.claims.failed(err, longest, l.cfg.rand)
	if l.state == acquiring {
		if l.givesUp(err) {
			l.close(err)
		}
		return
	}
	l.stats.Failures++
	if l.state >= releasing {
		l.announce()
		return
	}
	stalled := l.stalledClaim()
	l.notify(ClaimFailed, l.current, stalled, l.claims.failures == 1)
	if l.state == lost {
		l.current.grant.SetFenceError(stalled)
	}
	l.refuseAsks(stalled)
	if time.Since(l.wish.last) > wishLasts {
		l.move(unasked)
	}
}

// renewed raises the fence: the store has acknowledged it.
func (l *Lease) renewed(h *holding, until int64) {
	h.fence = max(h.fence, until)
	h.grant.RaiseFence(time.UnixMilli(h.fence))
	h.renewed = time.Now()
	h.renewAt = h.renewed.Add(l.renewIn())
	l.stats.Renewals++
	if h != l.current || l.state >= releasing {
		return
	}
	failed := l.renewal.failures > 0
	l.renewal = retry{}
	l.notify(Renewed, h, nil, failed)
}

func (l *Lease) failedRenewal(h *holding, err error) {
	if h != l.current || l.state >= releasing || l.state == lost {
		return
	}
	if errors.Is(err, driver.ErrNotHeld) {
		if l.token == "" {
			l.lose(h, err)
			return
		}
		if l.move(doubted) {
			l.claims.at = time.Now()
		}
	}
	l.renewal.failed(err, maxDelay, l.cfg.rand)
	l.stats.Failures++
	stalled := l.stalledRenewal()
	h.grant.SetFenceError(stalled)
	l.notify(RenewFailed, h, stalled, l.renewal.failures == 1)
}

// lose records that another holder has the worker ID. The grant stays valid: its fence is
// recorded, and the other holder begins there.
func (l *Lease) lose(h *holding, err error) {
	h.lost = &LostError{Namespace: l.cfg.Namespace, Worker: h.claim.Worker, Fence: time.UnixMilli(h.fence), Err: err}
	l.stats.Losses++
	l.move(taken)
	l.renewal, l.claims = retry{}, retry{}
	h.grant.SetFenceError(nil) // another claim is on its way
	l.notify(Lost, h, h.lost, true)
	if l.cfg.StopOnLoss {
		h.grant.SetFenceError(h.lost)
		l.close(h.lost)
		l.end()
	}
}

func (l *Lease) released(h *holding) {
	i := slices.Index(l.leaving, h)
	if i < 0 {
		return // the answer to a repeated release came first
	}
	l.leaving = slices.Delete(l.leaving, i, i+1)
	l.notify(Released, h, nil, true)
	l.announce()
}

func (l *Lease) failedRelease(h *holding, err error) {
	if errors.Is(err, driver.ErrNotHeld) { // it was released before, or another claim has it
		l.released(h)
		return
	}
	h.retry.failed(err, maxDelay, l.cfg.rand)
	l.stats.Failures++
	// After so many failures the claim is left to expire.
	if l.state < releasing && !l.cfg.NoExpiry && int64(h.retry.failures) > int64(l.cfg.TTL/maxDelay)+1 {
		l.leaving = slices.DeleteFunc(l.leaving, func(other *holding) bool { return other == h })
		l.notify(ReleaseFailed, h, err, true)
	}
	l.announce()
}

// stalled is why the fence does not rise at present. It is nil if no request has failed.
func (l *Lease) stalled() error {
	switch {
	case l.state == lost && l.claims.failures > 0:
		return l.stalledClaim()
	case l.state != lost && l.renewal.failures > 0:
		return l.stalledRenewal()
	}
	return nil
}

func (l *Lease) stalledRenewal() error { return l.retryError("renew", l.renewal) }

func (l *Lease) stalledClaim() error {
	r := l.claims
	if l.state == checking && l.stats.ClockAhead > 0 {
		r.err = fmt.Errorf("the wall clock has leapt ahead by %v, and the store has not confirmed it: %w", l.stats.ClockAhead.Round(time.Millisecond), r.err)
		return l.retryError("compare the clocks", r)
	}
	return l.retryError("claim", r)
}

func (l *Lease) retryError(op string, r retry) *RetryError {
	return &RetryError{Op: op, Namespace: l.cfg.Namespace, Worker: l.current.claim.Worker, Failures: r.failures, Since: r.since, Err: r.err}
}
