package worker

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A call is one request to the store.
type call struct {
	kind       callKind
	request    driver.Request // of a claim
	repeated   bool           // the claim was made before, and not answered
	sameAs     any            // a key of the claims to which the store gives the same answer, see claimKind; nil: of none
	known      *driver.Claim  // what another call with the same claim ID was granted; the same answer to this one is no new claim
	unsent     bool           // the limiter answered the claim, which was not made before
	assignment *assignment    // what is renewed or released
	fence      int64          // of a renewal
	send       func(context.Context) (driver.Claim, error)

	began    time.Time // zero: it was not made
	deadline time.Time
	ctx      context.Context
	cancel   context.CancelFunc
	status   callStatus
}

type callKind uint8

const (
	claimCall callKind = iota
	renewCall
	releaseCall
)

func (k callKind) String() string { return [...]string{"claim", "renewal", "release"}[k] }

// A callStatus says what the lease expects of a call.
type callStatus uint8

const (
	pending callStatus = iota
	late               // it was not answered in time, so it counts as failed, but it may still be answered
)

// An answer is the store's answer to a call, or, if it was not sent, the limiter's.
type answer struct {
	call  *call
	claim driver.Claim
	err   error
	sent  bool
}

// A limiter limits the requests of the leases that share a store; see driver.Limiter.
type limiter interface {
	Limit(ctx context.Context, last *atomic.Bool, kind any, ask func() error) (sent bool, err error)
}

// A requests is what the lease has asked the store.
type requests struct {
	calls      []*call     // not answered yet
	answers    []answer    // not handled by the owner yet
	lastFailed atomic.Bool // the last request that was made; of the limiter
}

// A claiming is the claim that the lease makes, or the next one.
type claiming struct {
	sent     *sentClaim // whose outcome is not known; nil: none
	retry    retry
	rotation rotation
	began    time.Time // of acquire
	expiry   time.Time // with RequirePreferred: when the worker ID's present claim expires
}

// A sentClaim is a claim that was sent to the store.
type sentClaim struct {
	request driver.Request
	unknown bool // an attempt was not answered, so it may have been granted: the next attempt repeats it
}

// maxResolves limits how often a claim is repeated only to be released.
const maxResolves = 5

// A rotation is why another worker ID is claimed, although the lease has one: its generator needs lower times.
type rotation struct {
	since time.Time // of the generator's first call
	last  time.Time // of its last call
}

// rotationLasts is how long a rotation is valid after the generator's last call.
const rotationLasts = time.Second

// newClaim is the claim that is due. A claim whose answer was lost is repeated as it was, but
// for the time, whatever the state needs by now: the store may have granted it already, and
// then its answer fits no other request.
func (l *lease) newClaim() *call {
	cfg, c := &l.cfg, &call{kind: claimCall}
	if sent := l.claiming.sent; sent != nil {
		c.repeated, c.request = true, sent.request
		c.request.Now = cfg.Now().UnixMilli()
	} else {
		r := driver.Request{
			Namespace: cfg.Namespace, Layout: driver.Fingerprint(cfg.Layout), WorkerIDs: cfg.Layout.WorkerIDs(),
			Preferred: -1, RequirePreferred: cfg.RequirePreferred, Exclude: -1, ClaimID: rand.Text(), Owner: cfg.Owner, Now: cfg.Now().UnixMilli(),
			FenceWindow: cfg.FenceWindow.Milliseconds(), TTL: cfg.ttl, MaxSkew: cfg.MaxSkew.Milliseconds(), MaxLead: cfg.MaxLead.Milliseconds(),
		}
		if cfg.Preferred != nil {
			r.Preferred = *cfg.Preferred
		}
		switch l.state {
		case checking: // ask for this worker ID alone
			r.Preferred, r.RequirePreferred = l.current.claim.Worker, true
		case rotating:
			// The generator has a worker ID until then: a claim that begins ahead of the clock is of no use to it.
			r.Exclude, r.MaxLead = l.current.claim.Worker, 0
		}
		if l.state != checking {
			c.sameAs = cfg.claimKind(r)
		}
		c.request = r
	}
	c.send = func(ctx context.Context) (driver.Claim, error) { return l.store.Claim(ctx, c.request) }
	return c
}

func (l *lease) newRenewal(a *assignment) *call {
	now, _ := a.clock.read()
	r := driver.Renewal{
		Namespace: l.cfg.Namespace, Worker: a.claim.Worker, FencingToken: a.claim.FencingToken, ClaimID: a.claimID,
		Fence: max(a.fence, now.Add(l.cfg.FenceWindow).UnixMilli()), TTL: l.cfg.ttl,
	}
	send := func(ctx context.Context) (driver.Claim, error) { return driver.Claim{}, l.store.Renew(ctx, r) }
	return &call{kind: renewCall, assignment: a, fence: r.Fence, send: send}
}

// newRelease returns the worker ID, from the first instant that no id carries. It closes
// the grant first: whatever the store answers, and whenever the request arrives, no id is
// issued under the claim any more.
func (l *lease) newRelease(a *assignment) *call {
	fence := max(a.grant.Close().UnixMilli(), a.claim.From)
	r := driver.Return{Namespace: l.cfg.Namespace, Worker: a.claim.Worker, FencingToken: a.claim.FencingToken, ClaimID: a.claimID, Fence: fence}
	send := func(ctx context.Context) (driver.Claim, error) { return driver.Claim{}, l.store.Release(ctx, r) }
	return &call{kind: releaseCall, assignment: a, send: send}
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
	driver.Request       // without the fields that differ between leases
	datacenter     int64 // Config.Datacenter; -1: nil
	minutesAhead   int64 // of the lease's clock, from the system's
}

func (cfg *Config) claimKind(r driver.Request) claimKind {
	kind := claimKind{datacenter: -1, minutesAhead: (r.Now - time.Now().UnixMilli()) / 60_000}
	r.ClaimID, r.Owner, r.FenceWindow, r.TTL, r.Now = "", "", 0, 0, 0
	if !r.RequirePreferred {
		r.Preferred = -1
	}
	kind.Request = r
	if cfg.Datacenter != nil {
		kind.datacenter = *cfg.Datacenter
	}
	return kind
}

// A datacenterStore is a store whose namespace has the worker IDs of one datacenter: 0 to
// workers-1 there are first to first+workers-1 here. The namespace's fingerprint has the
// datacenter, so that no other datacenter uses it by mistake.
type datacenterStore struct {
	driver.Store
	datacenter, first, workers int64
}

func (s datacenterStore) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	r.Layout = driver.OfDatacenter(r.Layout, s.datacenter)
	r.WorkerIDs = s.workers
	r.Preferred = s.local(r.Preferred)
	r.Exclude = s.local(r.Exclude)
	c, err := s.Store.Claim(ctx, r)
	if err != nil {
		return driver.Claim{}, err
	}
	c.Worker += s.first
	return c, nil
}

// local is the namespace's worker ID for one of the layout's; -1, none, stays -1.
func (s datacenterStore) local(worker int64) int64 {
	if worker < s.first {
		return -1
	}
	return worker - s.first
}

func (s datacenterStore) Renew(ctx context.Context, r driver.Renewal) error {
	r.Worker -= s.first
	return s.Store.Renew(ctx, r)
}

func (s datacenterStore) Release(ctx context.Context, r driver.Return) error {
	r.Worker -= s.first
	return s.Store.Release(ctx, r)
}
