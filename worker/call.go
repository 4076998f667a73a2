package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A call is one request to the store.
type call struct {
	kind    callKind
	h       *holding       // what is renewed or released
	request driver.Request // what is claimed
	known   *driver.Claim  // what another call with the same token was granted; the same answer to this one is no new claim
	until   int64          // the fence that a renewal asks for
	ask     func(ctx context.Context) (driver.Claim, error)

	deadline time.Time
	cancel   func()
	late     bool // not answered in time: it counts as failed, but may still be answered
	unsent   bool // the store was not asked: the answer is that of another lease's claim
}

type callKind uint8

const (
	claimCall callKind = iota
	renewCall
	releaseCall
)

func (k callKind) String() string { return [...]string{"claim", "renewal", "release"}[k] }

// An answer is the store's answer to a call.
type answer struct {
	call  *call
	claim driver.Claim
	err   error
}

// newClaim is the claim that the state needs. A repeated claim has the same token, so that
// a claim whose answer was lost is found again.
func (l *Lease) newClaim() *call {
	token, repeated := l.token, l.token != ""
	if !repeated {
		token = rand.Text()
	}
	avoid, lead := int64(-1), l.cfg.MaxLead
	if l.state == rotating {
		avoid = l.current.claim.Worker
		if l.wish.reason == core.RegrantRotate {
			// The generator needs lower times, and has a worker ID until then: a claim that
			// begins ahead of the clock is of no use to it.
			lead = 0
		}
	}
	r := l.cfg.request(token, l.cfg.Now(), avoid, lead)
	c := &call{kind: claimCall, request: r}
	claim := func(ctx context.Context) (driver.Claim, error) { return l.store.Claim(ctx, c.request) }
	c.ask = claim
	if l.state == checking { // ask for this worker ID alone
		c.request.Preferred, c.request.RequirePreferred = l.current.claim.Worker, true
	} else if l.queue != nil {
		kind := l.cfg.claimKind(r)
		c.ask = func(ctx context.Context) (granted driver.Claim, err error) {
			granted, sent, err := l.queue.LimitClaims(ctx, kind, repeated, func() (driver.Claim, error) { return claim(ctx) })
			l.mu.Lock()
			defer l.mu.Unlock()
			c.unsent = !sent && !repeated
			return granted, err
		}
	}
	return c
}

func (l *Lease) newRenewal(h *holding) *call {
	now, _ := h.clock.read()
	r := driver.Renewal{
		Namespace: l.cfg.Namespace, Worker: h.claim.Worker, FencingToken: h.claim.FencingToken, ClaimID: h.token,
		Fence: max(h.fence, now.Add(l.cfg.FenceWindow).UnixMilli()), TTL: l.cfg.ttl(),
	}
	return &call{kind: renewCall, h: h, until: r.Fence, ask: func(ctx context.Context) (driver.Claim, error) {
		return driver.Claim{}, l.store.Renew(ctx, r)
	}}
}

// newRelease returns the worker ID, from the first instant that no id carries. It closes
// the grant first: whatever the store answers, and whenever the request arrives, no id is
// issued under the claim any more.
func (l *Lease) newRelease(h *holding) *call {
	until := max(h.grant.Close().UnixMilli(), h.claim.From)
	r := driver.Return{Namespace: l.cfg.Namespace, Worker: h.claim.Worker, FencingToken: h.claim.FencingToken, ClaimID: h.token, Fence: until}
	return &call{kind: releaseCall, h: h, ask: func(ctx context.Context) (driver.Claim, error) {
		return driver.Claim{}, l.store.Release(ctx, r)
	}}
}

// outOfTime is why no worker ID can be claimed at this time, whatever the store says.
func (l *Lease) outOfTime() error {
	now := l.cfg.Now()
	switch {
	case !now.Before(l.cfg.Layout.End()):
		return fmt.Errorf("%w: it ended at %s, and it is %s", core.ErrTimestampExhausted, show(l.cfg.Layout.End()), show(now))
	case now.Before(l.cfg.Layout.Epoch):
		return configError("Layout.Epoch", show(l.cfg.Layout.Epoch), "is in the future: the time is "+show(now))
	}
	return nil
}

// begin registers a call, unless two are unanswered already: then the call fails at once. So
// a store that never answers costs two goroutines, and is reported like one that fails.
func (l *Lease) begin(c *call) bool {
	if len(l.calls) > 1 {
		l.failed(c, fmt.Errorf("worker: two requests to the store are unanswered, and no other is made until one is answered: %w", context.DeadlineExceeded))
		return false
	}
	switch c.kind {
	case claimCall:
		l.token = c.request.ClaimID
	case releaseCall:
		c.h.tried = true
	}
	c.deadline = time.Now().Add(l.cfg.Timeout + l.cfg.Timeout/grace)
	l.calls = append(l.calls, c)
	return true
}

// send makes a call in its own goroutine, so that a store that ignores its context blocks
// no other call.
func (l *Lease) send(c *call) {
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

// asked is the store that was given to Acquire.
func (l *Lease) asked() driver.Store {
	if w, ok := l.store.(within); ok {
		return w.Store
	}
	return l.store
}

// expire fails the calls that the store has not answered in time.
func (l *Lease) expire() {
	for _, c := range l.calls {
		if !c.late && !time.Now().Before(c.deadline) {
			c.late = true
			l.failed(c, fmt.Errorf("worker: %T has not answered a %s in space %q within Config.Timeout, %v: %w", l.asked(), c.kind, l.cfg.Namespace, l.cfg.Timeout, context.DeadlineExceeded))
		}
	}
}

// busy reports whether a call is under way that is not late.
func (l *Lease) busy() bool {
	return slices.ContainsFunc(l.calls, func(c *call) bool { return !c.late })
}

// unskew looks again at a complaint about the clock: a slow answer makes it look
// slow, and is no proof. A fast clock is fast, however long the answer took.
func (l *Lease) unskew(err error) error {
	var skew *SkewError
	if errors.As(err, &skew) && skew.Store.Sub(l.cfg.Now()) <= l.cfg.MaxSkew && skew.Local.Before(skew.Store) {
		return fmt.Errorf("worker: the store answered too slowly to compare the clocks: %v", err) //nolint:errorlint // it is not to be found as a SkewError
	}
	return err
}

// A limiter limits the rate of claims; see driver.ClaimLimiter.
type limiter interface {
	LimitClaims(ctx context.Context, kind any, repeated bool, ask func() (driver.Claim, error)) (c driver.Claim, sent bool, err error)
}

// A claimKind is the key of claims to which the store gives the same answer.
type claimKind struct {
	driver.Request       // without the fields that differ between leases; Now is how many minutes the lease's clock is ahead of the system's
	datacenter     int64 // Config.Datacenter; -1: nil
}

func (cfg *Config) claimKind(r driver.Request) claimKind {
	r.ClaimID, r.Owner, r.FenceWindow, r.TTL = "", "", 0, 0
	r.Now = (r.Now - time.Now().UnixMilli()) / 60_000
	if !r.RequirePreferred {
		r.Preferred = -1
	}
	kind := claimKind{r, -1}
	if cfg.Datacenter != nil {
		kind.datacenter = *cfg.Datacenter
	}
	return kind
}
