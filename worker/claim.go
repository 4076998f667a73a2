package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/backoff"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A claim has the lease that the store has granted for it, and the core's grant made from that.
type claim struct {
	driver.Lease // Fence is the highest one that the store has acknowledged

	id      string
	grant   *core.Grant   // replaced by regrant
	renewAt time.Time     // when the next renewal is due
	renewed time.Time     // when it was granted or last renewed
	left    time.Duration // how long ids could continue from then on
	lost    error         // why the claim no longer has the worker ID; nil: it has
	retry   retry         // delays its renewal while it is current, then its release

	releaseSent bool // the store was asked to release it
}

// A claiming holds the claim that the lease makes now, or will make next.
type claiming struct {
	pending *driver.Claim // its outcome is not known; nil: none
	unknown bool          // an attempt at pending was not answered, so it may have been granted
	retry   retry
	began   time.Time // when acquire began
	expiry  time.Time // with RequirePreferred: when the worker ID's present claim expires
	last    time.Time // of the generator's last call for another worker ID
	evading bool      // another worker ID is claimed because the record of the present one is locked
}

// rotationLasts is how long the generator's call for another worker ID stays valid. The claim is
// retried for that time, because the generator's callers may hold the connections that it needs.
const rotationLasts = time.Second

// claim makes the claim that is due. If the answer to a claim was lost, claim repeats it with only
// the time changed, whatever the state needs by now: the store may have granted it already.
func (l *lease) claim() {
	l.mu.Lock()
	if err := l.outOfTime(); err != nil {
		l.failedClaim(err)
		l.mu.Unlock()
		return
	}
	if l.claiming.pending == nil {
		l.claiming.pending, l.claiming.unknown = l.newClaim(), false
	}
	c := *l.claiming.pending
	c.Now = l.cfg.Now().UnixMilli()
	l.mu.Unlock()
	got, err := l.ask(context.Background(), "claim", func(ctx context.Context) (driver.Lease, error) { return l.store.Claim(ctx, c) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notifyForgot(got, err)
	if err != nil {
		l.failedClaim(checkedSkew(err, l.cfg.Now()))
		return
	}
	l.granted(c, got)
}

func (l *lease) newClaim() *driver.Claim {
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
	case l.state == rotating:
		c.Exclude = l.current.Worker
	case l.current != nil: // the fence of a lost claim no longer rises, so no id passes it
		c.Former = driver.Former{Worker: l.current.Worker, ClaimID: l.current.id, FencingToken: l.current.FencingToken, Unused: l.current.Fence}
	}
	return c
}

// outOfTime returns an error if the clock is outside the layout's time, so that no worker ID can be claimed.
func (l *lease) outOfTime() error {
	now := l.cfg.Now()
	switch {
	case !now.Before(l.cfg.Layout.End()):
		return fmt.Errorf("%w: it ended at %s, and it is %s", core.ErrTimestampExhausted, show(l.cfg.Layout.End()), show(now))
	case now.Before(l.cfg.Layout.Epoch):
		return fields.Error("worker", "Layout.Epoch", show(l.cfg.Layout.Epoch), "is in the future: the time is "+show(now))
	}
	return nil
}

// granted makes a new claim the current one. If no other worker ID is needed any more, because
// acquire gave up or the present one can be renewed again, granted releases the new claim.
func (l *lease) granted(r driver.Claim, got driver.Lease) {
	l.claiming.pending = nil
	c, err := l.newGrant(r, got)
	switch {
	case err != nil:
	case l.state == rotating && !l.claiming.evading && got.Start > l.cfg.Now().UnixMilli():
		c.grant.Close()
		err = errAhead
	case l.state == acquiring && l.left(c) == 0: // core.New would begin at the clock's time, beyond the fence
		c.grant.Close()
		err = errLate
	}
	if err != nil {
		if c != nil {
			l.retire(c)
		}
		l.failedClaim(err)
		return
	}
	l.count.claims++
	if !l.move(claimed) {
		c.grant.Close()
		l.retire(c)
		return
	}
	l.install(c)
	l.claiming.evading, l.claiming.retry = false, retry{}
	l.notify(Claimed, c, nil, true)
}

var errLate = errors.New("worker: the clock had passed the fence when the claim was answered")

var errAhead = errors.New("worker: the clock stepped back, and the ids of each other worker ID begin ahead of it")

// newGrant makes a claim from a lease. If the lease does not match the request, or begins beyond the
// layout's time, newGrant returns an error and a claim that only needs to be released. That claim is
// nil if nothing in the store's answer can be relied upon.
func (l *lease) newGrant(r driver.Claim, got driver.Lease) (*claim, error) {
	cfg, now := &l.cfg, time.Now()
	c := &claim{Lease: got, id: r.ClaimID, renewed: now, left: l.untilFence(got.Fence), renewAt: now.Add(l.cfg.renewIn())}
	err := r.CheckLease(got)
	if d := cfg.Datacenter; d != nil && got.Worker>>cfg.Layout.WorkerBits != *d {
		err = fmt.Errorf("worker: the store's lease does not match the claim: worker ID %d is not of datacenter %d", got.Worker, *d)
	}
	if err != nil {
		if got.Fence <= got.Start {
			return nil, err // a release could lower the fence below ids; the claim expires instead
		}
		c.Start = got.Fence // none of its time is given back
	} else if c.grant, err = core.NewGrant(cfg.Layout, got.Worker, time.UnixMilli(got.Start), time.UnixMilli(got.Fence)); err != nil {
		err = fmt.Errorf("worker: worker ID %d: %w", got.Worker, err)
	}
	if err != nil {
		c.grant, _ = core.NewGrant(cfg.Layout, 0, time.Time{}, time.Time{}) // worker ID 0 without times cannot fail
		c.grant.Close()
		return c, err
	}
	if l.left(c) < cfg.FenceWindow/2 || cfg.NoExpiry { // a repeated claim may be old; NoExpiry starts with a renewal
		c.renewAt = now
	}
	return c, nil
}

// failedClaim handles a claim that was refused or not answered.
func (l *lease) failedClaim(err error) {
	var none *NoWorkerIDError
	// Stores compare clocks and layouts before they look for the claim ID. So nothing was
	// granted, unless an earlier attempt was not answered.
	answered := errors.As(err, &none) || errors.As(err, new(*FloorError))
	if answered || driver.IsPermanent(err) && !l.claiming.unknown {
		l.claiming.pending = nil
	} else {
		l.claiming.unknown = true
	}
	l.claiming.retry.failed(err, l.cfg.rand)
	if l.state == acquiring {
		if l.givesUp(err, none) {
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
	if !l.claiming.evading && time.Since(l.claiming.last) > rotationLasts {
		l.move(settled)
	}
}

// givesUp reports whether acquire returns after a failed claim instead of retrying.
func (l *lease) givesUp(err error, none *NoWorkerIDError) bool {
	c := &l.claiming
	if driver.IsPermanent(err) {
		return true
	}
	if l.cfg.waitForExpiry && none != nil && none.Wait > 0 {
		expiry := time.Now().Add(none.Wait)
		if c.expiry.IsZero() {
			c.expiry = expiry
		}
		renewed := expiry.Sub(c.expiry) > l.cfg.RenewInterval/2 // its holder is alive
		return renewed || c.retry.at.Sub(c.expiry) > time.Second
	}
	if !c.expiry.IsZero() && c.retry.at.Sub(c.expiry) <= time.Second {
		return false // a failure meanwhile
	}
	return c.retry.at.Sub(c.began) > l.cfg.ClaimWait
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

// regrant replaces the grant with one for the unused part of its interval.
func (c *claim) regrant(l core.Layout) error {
	from, fence := c.grant.Close(), time.UnixMilli(c.Fence)
	if from.After(fence) { // the last tick is used up, and ends after the fence
		fence = from
	}
	grant, err := core.NewGrant(l, c.Worker, from, fence)
	if err != nil {
		return fmt.Errorf("worker: worker ID %d: %w", c.Worker, err)
	}
	c.grant = grant
	return nil
}

func done(g *core.Grant) bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// retire schedules a claim for release, once no generator uses its grant.
func (l *lease) retire(c *claim) {
	c.retry = retry{}
	l.retiring = append(l.retiring, c)
}

// drop removes a claim from those to be released.
func (l *lease) drop(c *claim) {
	l.retiring = slices.DeleteFunc(l.retiring, func(other *claim) bool { return other == c })
}

// A retry delays the attempts at one request. The zero value is due at once.
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

// waiting reports whether the next attempt is delayed because the last one failed.
func (r *retry) waiting() bool { return r.failures > 0 && time.Now().Before(r.at) }
