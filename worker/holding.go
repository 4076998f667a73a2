package worker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A holding is one claim of a worker ID and the grant made of it.
type holding struct {
	claim   driver.Claim
	token   string
	grant   *core.Grant // replaced by regrant
	clock   *hybridClock
	fence   int64     // the highest that the store has acknowledged
	renewAt time.Time // when the next renewal is due
	renewed time.Time // when it was claimed, or renewed last
	handed  bool      // whether a generator got the grant
	lost    error     // why this claim no longer has the worker ID; nil: it has
	retry   retry     // of its release
	tried   bool      // whether the store was asked to release it
}

// left is how long ids can be issued below the fence.
func (h *holding) left() time.Duration {
	now, _ := h.clock.read()
	return max(time.UnixMilli(h.fence).Sub(now), 0)
}

// hold makes a holding of a claim that the store has granted.
func (l *Lease) hold(r driver.Request, c driver.Claim) (*holding, error) {
	h := &holding{claim: c, token: r.ClaimID, fence: c.Fence, renewed: time.Now()}
	if c.Worker < 0 || c.Worker >= r.WorkerIDs || r.RequirePreferred && c.Worker != r.Preferred || c.FencingToken < 1 || c.Fence <= c.From || c.Fence-c.From > r.FenceWindow {
		return nil, fmt.Errorf("worker: the store gave what was not asked for: number %d of %d, epoch %d, from %d to %d, a span of at most %d", c.Worker, r.WorkerIDs, c.FencingToken, c.From, c.Fence, r.FenceWindow)
	}
	from := time.UnixMilli(c.From)
	grant, err := core.NewGrant(l.cfg.Layout, c.Worker, from, time.UnixMilli(c.Fence))
	if err != nil { // the span begins beyond the layout's time
		unused, grantErr := core.NewGrant(l.cfg.Layout, c.Worker, time.Time{}, time.Time{})
		if grantErr == nil {
			unused.Close()
			h.grant = unused
			l.leave(h)
		}
		return nil, fmt.Errorf("worker: number %d: %w", c.Worker, err)
	}
	h.grant = grant
	// A claim that was found again may be old, and its span past. So the clock begins no
	// earlier than the claimant's, and a renewal follows at once.
	h.clock = newHybridClock(time.UnixMilli(max(c.From, r.Now)), l.cfg.Now)
	h.renewAt = time.Now().Add(l.renewIn())
	return h, nil
}

func (l *Lease) renewIn() time.Duration {
	return time.Duration(float64(l.cfg.RenewInterval) * (0.9 + 0.1*l.cfg.rand()))
}

// regrant makes another grant, of the part of the span that the one before has not used.
func (l *Lease) regrant(h *holding) (*core.Grant, error) {
	from, until := h.grant.Close(), time.UnixMilli(h.fence)
	if from.After(until) { // the last tick is used up, and ends after the fence
		until = from
	}
	grant, err := core.NewGrant(l.cfg.Layout, h.claim.Worker, from, until)
	if err != nil {
		return nil, fmt.Errorf("worker: number %d: %w", h.claim.Worker, err)
	}
	h.grant = grant
	grant.SetFenceError(l.stalled())
	return grant, nil
}

// replace puts a new claim in the place of the current one.
func (l *Lease) replace(h *holding) {
	old := l.current
	l.current = h
	l.renewal = retry{}
	if old == nil {
		return
	}
	if h.claim.Worker == old.claim.Worker && old.lost == nil {
		old.lost = errSuperseded
	}
	if old.lost == nil {
		old.grant.SetFenceError(nil) // so that at the fence its generator asks for the new one
		l.leave(old)
		return
	}
	// The generator continues above its last id, which may be ahead of the wall clock,
	// because the old claim may have begun ahead of it. So the new clock must not be lower.
	if now, _ := old.clock.read(); h.clock.atLeast(now) {
		h.renewAt = time.Now()
	}
	old.grant.Revoke(old.lost) // it asks for the new one at once
}

var errSuperseded = errors.New("worker: the worker ID was claimed again, because its claim had expired")

// leave schedules the release of a holding for when no generator has its grant any more.
func (l *Lease) leave(h *holding) {
	h.retry = retry{}
	l.leaving = append(l.leaving, h)
}

// stay keeps the worker ID that a generator was to leave but still uses, and gives up the
// new one.
func (l *Lease) stay(i int) {
	l.current, l.leaving[i] = l.leaving[i], l.current
	other := l.leaving[i]
	other.grant.Close()
	other.retry = retry{}
	l.renewal = retry{}
	l.current.renewAt = time.Now()
	if other.lost != nil {
		l.leaving = slices.Delete(l.leaving, i, i+1)
		l.move(claimed)
	}
}

// lent is a grant that was handed to a generator.
type lent struct {
	grant *core.Grant
	after *core.Grant // the grant it had before; nil: none
}

// over reports whether no generator has the grant or will have it. A generator gives up
// its old grant only after it has taken the new one. So if the old one is done and the new
// one was not taken, the generator was closed in between.
func (o lent) over() bool {
	return done(o.grant) || o.after != nil && done(o.after) && !o.grant.Attached()
}

func done(g *core.Grant) bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// lend records that the generator with prev gets a grant.
func (l *Lease) lend(grant, prev *core.Grant) *core.Grant {
	l.out = append(l.out, lent{grant, prev})
	return grant
}

// hasLent reports whether a generator has the grant of this lease.
func (l *Lease) hasLent(grant *core.Grant) bool {
	return grant != nil && slices.ContainsFunc(l.out, func(o lent) bool { return o.grant == grant })
}

// settle updates what generators use. A generator may still use its old worker ID because
// it could not use the new one: then the lease keeps the old one and gives up the new.
func (l *Lease) settle() {
	l.out = slices.DeleteFunc(l.out, lent.over)
	if l.state >= releasing || l.current == nil || !l.current.handed || !done(l.current.grant) {
		return
	}
	if i := slices.IndexFunc(l.leaving, func(h *holding) bool { return !done(h.grant) && h.lost == nil }); i >= 0 {
		l.stay(i)
		l.claims.failed(errDeclined, maxDelay, l.cfg.rand)
	}
}

var errDeclined = errors.New("worker: the generator could not continue with the worker ID that it was given")
