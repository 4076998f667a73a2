package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/backoff"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A holding is a worker ID that the store has granted, with the core's grant made from it.
type holding struct {
	driver.Lease // Fence is the highest one that the store has acknowledged

	id       string
	grant    *core.Grant   // replaced by regrant
	renewed  time.Time     // when it was granted or last renewed
	leftThen time.Duration // how long ids could continue from then on
	lost     error         // why another claim has the worker ID; nil: none has
	retry    retry         // of its next renewal while it is current, then of its release
}

// claimState describes the claim that the lease makes now, or will make next.
type claimState struct {
	pending  *driver.Claim // its outcome is not known; nil: none
	unknown  bool          // an attempt at pending was not answered, so it may have been granted
	retry    retry
	deadline time.Time // when acquire gives up
	expiry   time.Time // with waitForExpiry: when the holder's claim expires, as it was at first
	asked    time.Time // when the generator last asked for another worker ID
}

// rotationLasts is how long the generator's call for another worker ID stays valid. The claim is
// retried for that time, because the generator's callers may hold the connections that it needs.
const rotationLasts = time.Second

// claim makes the claim that is due. If the answer to a claim was lost, claim repeats it with only
// the time changed, whatever the state needs by now: the store may have granted it already.
func (l *lease) claim() {
	if err := l.outOfTime(); err != nil {
		l.claimFailed(err)
		return
	}
	if l.claiming.pending == nil {
		l.claiming.pending, l.claiming.unknown = l.newRequest(), false
	}
	c := *l.claiming.pending
	c.Now = l.cfg.Now().UnixMilli()
	got, err := l.ask(context.Background(), "claim", func(ctx context.Context) (driver.Lease, error) { return l.store.Claim(ctx, c) })
	l.notifyFloorRaised(got, err)
	if err != nil {
		l.claimFailed(checkedSkew(err, l.cfg.Now()))
		return
	}
	l.claimGranted(c, got)
}

func (l *lease) newRequest() *driver.Claim {
	cfg := &l.cfg
	c := &driver.Claim{
		Namespace: cfg.Namespace, Layout: driver.Fingerprint(cfg.Layout), WorkerIDs: cfg.Layout.WorkerIDs(),
		Preferred: -1, RequirePreferred: cfg.RequirePreferred, Exclude: -1, ClaimID: rand.Text(), Owner: cfg.Owner,
		FenceWindow: cfg.FenceWindow.Milliseconds(), MaxSkew: cfg.MaxSkew.Milliseconds(),
	}
	if cfg.Preferred != nil {
		c.Preferred = *cfg.Preferred
	}
	switch {
	case l.state.renews():
		c.Exclude = l.current.Worker
	case l.current != nil: // the fence of a lost claim no longer rises, so no id passes it
		old := l.current
		c.Former = driver.Former{Worker: old.Worker, ClaimID: old.id, FencingToken: old.FencingToken, Unused: old.Fence}
	}
	return c
}

// outOfTime returns an error if the clock is outside the layout's time, so that no worker ID can be claimed.
func (l *lease) outOfTime() error {
	now := l.cfg.Now()
	switch {
	case !now.Before(l.cfg.Layout.End()):
		return fmt.Errorf("%w: it ended at %s, and it is %s", core.ErrTimestampExhausted, formatTime(l.cfg.Layout.End()), formatTime(now))
	case now.Before(l.cfg.Layout.Epoch):
		return fields.Error("worker", "Layout.Epoch", formatTime(l.cfg.Layout.Epoch), "is in the future: the time is "+formatTime(now))
	}
	return nil
}

// claimGranted makes what was claimed the current holding. It releases that instead if the generator
// cannot use it, or needs no other worker ID any more: acquire gave up, or the present one can be
// renewed again.
func (l *lease) claimGranted(r driver.Claim, got driver.Lease) {
	l.claiming.pending = nil
	h, err := l.newHolding(r, got)
	if h == nil {
		l.claimFailed(err)
		return
	}
	switch {
	case err != nil:
	case l.state == rotating && got.Start > l.cfg.Now().UnixMilli():
		err = errAhead
	case l.state == acquiring && l.left(h) == 0: // core.New would begin at the clock's time, beyond the fence
		err = errLate
	default:
		l.stats.Claims++
	}
	if err != nil || !l.state.claims() {
		h.grant.Close()
		l.retire(h)
		if err != nil {
			l.claimFailed(err)
		}
		return
	}
	if l.left(h) < l.cfg.FenceWindow/2 || l.cfg.NoExpiry { // a repeated claim may be old; NoExpiry starts with a renewal
		h.retry = retry{}
	}
	l.install(h)
}

var errLate = errors.New("worker: the clock had passed the fence when the claim was answered")

var errAhead = errors.New("worker: the clock stepped back, and the ids of each other worker ID begin ahead of it")

// newHolding makes a grant of the store's answer. With an error, the holding has a grant of nothing and
// can only be released. It is nil if not even that is safe: then the claim must expire.
func (l *lease) newHolding(r driver.Claim, got driver.Lease) (*holding, error) {
	cfg, now := &l.cfg, time.Now()
	h := &holding{
		Lease: got, id: r.ClaimID, renewed: now, leftThen: l.untilFence(got.Fence), retry: retry{at: now.Add(cfg.renewIn())},
	}
	err := r.CheckLease(got)
	if d := cfg.Datacenter; d != nil && got.Worker>>cfg.Layout.WorkerBits != *d {
		err = fmt.Errorf("worker: the store's lease does not match the claim: worker ID %d is not of datacenter %d", got.Worker, *d)
	}
	switch {
	case err == nil:
		if h.grant, err = core.NewGrant(cfg.Layout, got.Worker, time.UnixMilli(got.Start), time.UnixMilli(got.Fence)); err == nil {
			return h, nil
		}
		err = fmt.Errorf("worker: worker ID %d: %w", got.Worker, err)
	case got.Fence <= got.Start: // a release could lower the fence below ids
		return nil, err
	default:
		h.Start = got.Fence // none of its time is given back
	}
	h.grant, _ = core.NewGrant(cfg.Layout, 0, time.Time{}, time.Time{}) // worker ID 0 without times cannot fail
	return h, err
}

// claimFailed handles a claim that was refused or not answered.
func (l *lease) claimFailed(err error) {
	c := &l.claiming
	// Stores compare clocks and layouts before they look for the claim ID. So an error about these
	// settles the claim only if no earlier attempt at it may have been granted.
	refused := errors.Is(err, ErrNoWorkerID) || errors.As(err, new(*FloorError))
	if refused || driver.IsPermanent(err) && !c.unknown {
		c.pending = nil
	} else {
		c.unknown = true
	}
	c.retry.failed(err, l.cfg.rand)
	if l.state == acquiring {
		if l.acquireFails(err) {
			l.close(err)
		}
		return
	}
	l.stats.Failures++
	if l.state >= releasing {
		return
	}
	stalled := l.retryError("claim", c.retry)
	l.notify(ClaimFailed, l.current, stalled, c.retry.failures == 1)
	switch {
	case l.state == lost:
		l.current.grant.SetFenceError(stalled)
	case l.state == rotating && time.Since(c.asked) > rotationLasts:
		l.state = held
	}
}

// acquireFails reports whether acquire fails with the error of a claim, instead of trying again.
func (l *lease) acquireFails(err error) bool {
	c := &l.claiming
	var none *NoWorkerIDError
	if l.cfg.waitForExpiry && errors.As(err, &none) && none.Wait > 0 {
		expiry := time.Now().Add(none.Wait)
		if c.expiry.IsZero() {
			c.expiry = expiry
			if at := expiry.Add(time.Second); at.After(c.deadline) {
				c.deadline = at
			}
		}
		if expiry.Sub(c.expiry) > l.cfg.RenewInterval/2 { // its holder renews it
			return true
		}
	}
	return driver.IsPermanent(err) || c.retry.at.After(c.deadline)
}

// checkedSkew replaces a SkewError that a slow answer may have caused. A slow answer makes this
// machine's clock look slow, never fast.
func checkedSkew(err error, now time.Time) error {
	var skew *SkewError
	if errors.As(err, &skew) && skew.Store.Sub(now) <= skew.Max && skew.Local.Before(skew.Store) {
		return fmt.Errorf("worker: the store answered too slowly to compare the clocks: %v", err) //nolint:errorlint // it is not to be found as a SkewError
	}
	return err
}

// A retry says when the next attempt at a request is due, and how those since the last success failed.
// The zero value is due at once.
type retry struct {
	failures int // in a row
	since    time.Time
	at       time.Time // when the next attempt is due
	err      error     // why the last one failed
}

// maxDelay is the longest delay before a failed request is retried.
const maxDelay = 500 * time.Millisecond

// failed records a failure. The next attempt is due after a random delay that doubles
// with each failure, up to maxDelay.
func (r *retry) failed(err error, random func() float64) {
	now := time.Now()
	if r.failures++; r.failures == 1 {
		r.since = now
	}
	r.err = err
	r.at = now.Add(backoff.Backoff{Max: maxDelay, Rand: random}.Delay(r.failures))
}
