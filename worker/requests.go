package worker

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// newClaim is the claim that is due. A claim whose answer was lost is repeated as it was, but
// for the time, whatever the state needs by now: the store may have granted it already, and
// then its answer fits no other request.
func (l *lease) newClaim() *call {
	r, repeated := l.claiming.request, l.claiming.state != noClaim
	if !repeated {
		r = l.newRequest()
	}
	r.Now = l.cfg.Now().UnixMilli()
	var kind any
	if !repeated && l.state != checking {
		kind = l.cfg.claimKind(r)
	}
	return &call{kind: claimCall, request: r, ask: func(ctx context.Context) (granted driver.Claim, err error) {
		sent, err := l.limit(ctx, kind, func() (err error) {
			granted, err = l.store.Claim(ctx, r)
			return err
		})
		if !sent && !repeated {
			err = notSentError{err}
		}
		return granted, err
	}}
}

// newRequest is the claim that the state needs, without the time.
func (l *lease) newRequest() driver.Request {
	cfg := &l.cfg
	r := driver.Request{
		Namespace: cfg.Namespace, Layout: driver.Fingerprint(cfg.Layout), WorkerIDs: cfg.Layout.WorkerIDs(),
		Preferred: -1, RequirePreferred: cfg.RequirePreferred, Exclude: -1, ClaimID: rand.Text(), Owner: cfg.Owner,
		FenceWindow: cfg.FenceWindow.Milliseconds(), TTL: cfg.ttl(), MaxSkew: cfg.MaxSkew.Milliseconds(), MaxLead: cfg.MaxLead.Milliseconds(),
	}
	if cfg.Preferred != nil {
		r.Preferred = *cfg.Preferred
	}
	switch l.state {
	case checking: // ask for this worker ID alone
		r.Preferred, r.RequirePreferred = l.current.claim.Worker, true
	case rotating:
		r.Exclude = l.current.claim.Worker
		if l.claiming.rotation.reason == core.RegrantRotate {
			// The generator needs lower times, and has a worker ID until then: a claim that
			// begins ahead of the clock is of no use to it.
			r.MaxLead = 0
		}
	}
	return r
}

// limit makes a request, unless the store's limiter answers it with the failure of another.
func (l *lease) limit(ctx context.Context, kind any, ask func() error) (sent bool, err error) {
	if l.limiter == nil {
		return true, ask()
	}
	return l.limiter.Limit(ctx, &l.requests.lastFailed, kind, ask)
}

func (l *lease) newRenewal(a *assignment) *call {
	now, _ := a.clock.read()
	r := driver.Renewal{
		Namespace: l.cfg.Namespace, Worker: a.claim.Worker, FencingToken: a.claim.FencingToken, ClaimID: a.claimID,
		Fence: max(a.fence, now.Add(l.cfg.FenceWindow).UnixMilli()), TTL: l.cfg.ttl(),
	}
	return &call{kind: renewCall, assignment: a, fence: r.Fence, ask: func(ctx context.Context) (driver.Claim, error) {
		_, err := l.limit(ctx, nil, func() error { return l.store.Renew(ctx, r) })
		return driver.Claim{}, err
	}}
}

// newRelease returns the worker ID, from the first instant that no id carries. It closes
// the grant first: whatever the store answers, and whenever the request arrives, no id is
// issued under the claim any more.
func (l *lease) newRelease(a *assignment) *call {
	fence := max(a.grant.Close().UnixMilli(), a.claim.From)
	r := driver.Return{Namespace: l.cfg.Namespace, Worker: a.claim.Worker, FencingToken: a.claim.FencingToken, ClaimID: a.claimID, Fence: fence}
	return &call{kind: releaseCall, assignment: a, ask: func(ctx context.Context) (driver.Claim, error) {
		_, err := l.limit(ctx, nil, func() error { return l.store.Release(ctx, r) })
		return driver.Claim{}, err
	}}
}

// outOfTime is why no worker ID can be claimed at this time, whatever the store says.
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
