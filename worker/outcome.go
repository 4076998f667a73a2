package worker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// finish acts on the outcome of a call.
func (l *lease) finish(c *call, granted driver.Claim, err error) {
	if !c.began.IsZero() {
		l.reports.elapsed = max(time.Since(c.began), 1) // 0 means no request
		defer func() { l.reports.elapsed = 0 }()
	}
	switch {
	case c.kind == claimCall && err == nil:
		l.granted(c, granted)
	case c.kind == claimCall:
		if c.unsent {
			l.claiming.sent = nil
		}
		l.failedClaim(l.checkedSkew(err))
	case c.kind == renewCall && err == nil:
		l.renewed(c.assignment, c.fence)
	case c.kind == renewCall:
		l.failedRenewal(c.assignment, err)
	case err == nil, errors.Is(err, driver.ErrNotHeld): // it was released before, or another claim has it
		l.released(c.assignment)
	default:
		l.failedRelease(c.assignment, err)
	}
}

// granted replaces the current assignment by one of a new claim. If that is not needed any
// more, because its caller gave up or another claim was faster, it is released.
func (l *lease) granted(answered *call, c driver.Claim) {
	if known := answered.known; known != nil && known.Worker == c.Worker && known.FencingToken == c.FencingToken {
		return
	}
	r := answered.request
	if sent := l.claiming.sent; sent != nil && sent.request.ClaimID == r.ClaimID {
		l.claiming.sent = nil
	}
	for _, other := range l.requests.calls {
		if other.kind == claimCall && other.request.ClaimID == r.ClaimID {
			other.known = &c
		}
	}
	a, err := newAssignment(&l.cfg, r, c)
	if err != nil {
		if a != nil {
			l.retire(a)
		}
		l.failedClaim(err)
		return
	}
	l.count.claims++
	same := l.current != nil && c.Worker == l.current.claim.Worker // then the claim before is over
	wanted := same || l.state == acquiring || l.state == rotating || l.state == lost
	if !wanted || !l.move(claimed) {
		a.grant.Close()
		l.retire(a)
		return
	}
	l.install(a)
	l.notify(Claimed, a, nil, true)
}

// failedClaim acts on a claim that was refused or not answered.
func (l *lease) failedClaim(err error) {
	var none *NoWorkerIDError
	isNone := errors.As(err, &none)
	// Stores compare clocks and layouts before they look for the claim ID. So nothing was
	// granted, unless an earlier attempt was not answered.
	if sent := l.claiming.sent; sent != nil && (isNone || driver.IsPermanent(err) && !sent.unknown) {
		l.claiming.sent = nil
	} else if sent != nil {
		sent.unknown = true
	}
	if isNone && l.state == checking { // stores compare the clocks before they look for a worker ID
		l.move(confirmed)
		l.claiming.retry = retry{}
		l.current.clock.follow()
		l.current.renewAt = time.Now()
		return
	}
	longest := maxDelay
	if l.state == checking && driver.IsPermanent(err) { // the clock may stay wrong for days
		longest = max(l.cfg.RenewInterval, maxDelay)
	}
	l.claiming.retry.failed(err, longest, l.cfg.rand)
	if l.state < releasing && l.opening.Err() == nil {
		if l.givesUp(err) {
			l.close(err)
		}
		return
	}
	l.count.failures++
	if l.state >= releasing {
		return
	}
	stalled := l.stalledClaim()
	l.notify(ClaimFailed, l.current, stalled, l.claiming.retry.failures == 1)
	if l.state == lost {
		l.current.grant.SetFenceError(stalled)
	}
	l.reply(nil, stalled)
	if time.Since(l.claiming.rotation.last) > rotationLasts {
		l.move(unasked)
	}
}

// givesUp reports whether acquire returns after a failed claim instead of retrying.
func (l *lease) givesUp(err error) bool {
	if driver.IsPermanent(err) {
		return true
	}
	var none *NoWorkerIDError
	if l.cfg.waitForTTL && errors.As(err, &none) && none.Wait > 0 {
		expiry := time.Now().Add(none.Wait)
		if l.claiming.expiry.IsZero() {
			l.claiming.expiry = expiry
		}
		renewed := expiry.Sub(l.claiming.expiry) > l.cfg.RenewInterval/2 // its holder is alive
		return renewed || l.claiming.retry.at.Sub(l.claiming.expiry) > time.Second
	}
	if !l.claiming.expiry.IsZero() && l.claiming.retry.at.Sub(l.claiming.expiry) <= time.Second {
		return false // a failure meanwhile
	}
	return l.claiming.retry.at.Sub(l.claiming.began) > l.cfg.ClaimWait
}

// checkedSkew replaces a SkewError that may only show a slow answer: that makes this
// machine's clock look slow. A fast clock is fast, however long the answer took.
func (l *lease) checkedSkew(err error) error {
	var skew *SkewError
	if errors.As(err, &skew) && skew.Store.Sub(l.cfg.Now()) <= l.cfg.MaxSkew && skew.Local.Before(skew.Store) {
		return fmt.Errorf("worker: the store answered too slowly to compare the clocks: %v", err) //nolint:errorlint // it is not to be found as a SkewError
	}
	return err
}

// renewed raises the fence: the store has acknowledged it.
func (l *lease) renewed(a *assignment, fence int64) {
	a.fence = max(a.fence, fence)
	a.grant.RaiseFence(time.UnixMilli(a.fence))
	a.renewed = time.Now()
	a.renewAt = a.renewed.Add(l.cfg.renewIn())
	l.count.renewals++
	if a != l.current || l.state >= releasing {
		return
	}
	failed := a.retry.failures > 0
	a.retry = retry{}
	l.notify(Renewed, a, nil, failed)
}

func (l *lease) failedRenewal(a *assignment, err error) {
	if a != l.current || l.state >= releasing || l.state == lost {
		return
	}
	if errors.Is(err, driver.ErrNotHeld) {
		if l.claiming.sent == nil {
			l.lose(a, err)
			return
		}
		if l.move(doubted) {
			l.claiming.retry.at = time.Now()
		}
	}
	a.retry.failed(err, maxDelay, l.cfg.rand)
	l.count.failures++
	stalled := l.stalledRenewal()
	a.grant.SetFenceError(stalled)
	l.notify(RenewFailed, a, stalled, a.retry.failures == 1)
}

// lose records that another holder has the worker ID. The grant stays valid: its fence is
// recorded, and the other holder begins there.
func (l *lease) lose(a *assignment, err error) {
	a.lost = &LostError{Namespace: l.cfg.Namespace, Worker: a.claim.Worker, Fence: time.UnixMilli(a.fence), Err: err}
	l.count.losses++
	l.move(taken)
	a.retry, l.claiming.retry = retry{}, retry{}
	a.grant.SetFenceError(nil) // another claim is on its way
	l.notify(Lost, a, a.lost, true)
	if l.cfg.StopOnLoss {
		a.grant.SetFenceError(a.lost)
		l.close(a.lost)
		l.end()
	}
}

func (l *lease) released(a *assignment) {
	i := slices.Index(l.retiring, a)
	if i < 0 {
		return // the answer to a repeated release came first
	}
	l.retiring = slices.Delete(l.retiring, i, i+1)
	l.notify(Released, a, nil, true)
}

func (l *lease) failedRelease(a *assignment, err error) {
	a.retry.failed(err, maxDelay, l.cfg.rand)
	l.count.failures++
	// After so many failures the claim is left to expire.
	if l.state < releasing && !l.cfg.NoExpiry && int64(a.retry.failures) > int64(l.cfg.TTL/maxDelay)+1 {
		l.retiring = slices.DeleteFunc(l.retiring, func(other *assignment) bool { return other == a })
		l.notify(ReleaseFailed, a, err, true)
	}
}
