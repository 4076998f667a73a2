package worker

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// An assignment is a claim of a worker ID that the store has granted, and the grant made
// of it.
type assignment struct {
	claim   driver.Claim
	claimID string
	grant   *core.Grant // replaced by regrant
	clock   *hybridClock
	fence   int64     // the highest that the store has acknowledged
	renewAt time.Time // when the next renewal is due
	renewed time.Time // when it was claimed, or renewed last
	usage   usage
	lost    error // why the claim no longer has the worker ID; nil: it has
	retry   retry // of its renewal while it is current, and then of its release
}

// A usage says how far an assignment's life has gone.
type usage uint8

const (
	unused      usage = iota // no generator has had its grant
	handedOut                // a generator has, or had, its grant
	releaseSent              // the store was asked to release it
)

// newAssignment makes an assignment of a claim. If the claim does not match the request, or
// begins beyond the layout's time, it returns an error, and an assignment that only needs to be
// released. That is nil if nothing in the store's answer can be relied upon.
func newAssignment(cfg *Config, r driver.Request, c driver.Claim) (*assignment, error) {
	a := &assignment{claim: c, claimID: r.ClaimID, fence: c.Fence, renewed: time.Now()}
	err := cfg.checkClaim(r, c)
	if err != nil {
		if c.Fence <= c.From || c.Fence-c.From > r.FenceWindow {
			return nil, err // a release could lower the fence below ids; the claim expires instead
		}
		a.claim.From = c.Fence // none of its time is given back
	} else if a.grant, err = core.NewGrant(cfg.Layout, c.Worker, time.UnixMilli(c.From), time.UnixMilli(c.Fence)); err != nil {
		err = fmt.Errorf("worker: worker ID %d: %w", c.Worker, err)
	}
	if err != nil {
		a.grant, _ = core.NewGrant(cfg.Layout, 0, time.Time{}, time.Time{}) // worker ID 0 without times cannot fail
		a.grant.Close()
		return a, err
	}
	// A claim that was found again may be old, and its interval past. So the clock begins no
	// earlier than the claimant's, and a renewal follows at once.
	a.clock = newHybridClock(time.UnixMilli(max(c.From, r.Now)), cfg.Now)
	a.renewAt = time.Now().Add(cfg.renewIn())
	return a, nil
}

// checkClaim returns an error if the claim does not match the request, or is another
// datacenter's.
func (cfg *Config) checkClaim(r driver.Request, c driver.Claim) error {
	if d := cfg.Datacenter; d != nil && c.Worker>>cfg.Layout.WorkerBits != *d {
		return fmt.Errorf("worker: the store's claim does not match the request: worker ID %d is not of datacenter %d", c.Worker, *d)
	}
	return r.CheckClaim(c)
}

// left is how long ids can be issued below the fence.
func (a *assignment) left() time.Duration {
	now, _ := a.clock.read()
	return max(time.UnixMilli(a.fence).Sub(now), 0)
}

// regrant replaces the grant by one of the part of the interval that it has not used.
func (a *assignment) regrant(l core.Layout) error {
	from, fence := a.grant.Close(), time.UnixMilli(a.fence)
	if from.After(fence) { // the last tick is used up, and ends after the fence
		fence = from
	}
	grant, err := core.NewGrant(l, a.claim.Worker, from, fence)
	if err != nil {
		return fmt.Errorf("worker: worker ID %d: %w", a.claim.Worker, err)
	}
	a.grant = grant
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
