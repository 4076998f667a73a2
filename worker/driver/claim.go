package driver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// A Claim is the argument of Store.Claim.
type Claim struct {
	Namespace        string `json:"namespace"`         // see [CheckNamespace]
	Layout           string `json:"layout"`            // the layout's [Fingerprint]; a namespace keeps its first one
	WorkerIDs        int64  `json:"worker_ids"`        // the namespace has the worker IDs 0 to WorkerIDs-1
	Preferred        int64  `json:"preferred"`         // claimed if it is free; -1: none
	RequirePreferred bool   `json:"require_preferred"` // claim no worker ID but Preferred
	Exclude          int64  `json:"exclude"`           // never claimed; -1: none
	NeverHeld        bool   `json:"never_held"`        // claim only a worker ID that was never held, if the store has not forgotten
	ClaimID          string `json:"claim_id"`          // random, new for each claim, and the same if the claim is repeated
	Owner            string `json:"owner"`             // names the holder, for operators
	Now              int64  `json:"now"`               // the claimant's wall clock
	FenceWindow      int64  `json:"fence_window"`      // how far the fence lies beyond the store's clock
	MaxSkew          int64  `json:"max_skew"`          // by how much clocks may differ; 0: a third of FenceWindow. A namespace keeps both values of its first claim
	Former           Former `json:"former"`            // the lease that the claimant had before
}

// A Former describes a lease that its holder has given up: no more ids are issued under it.
type Former struct {
	Worker       int64  `json:"worker_id"`
	ClaimID      string `json:"claim_id"` // empty: there was none
	FencingToken int64  `json:"fencing_token"`
	Unused       int64  `json:"unused"` // the first instant that no id carries
}

// A Lease is the result of Claim and Renew. Ids of the claim carry times from Start up to, but not
// including, Fence.
type Lease struct {
	Worker       int64 `json:"worker_id"`
	FencingToken int64 `json:"fencing_token"` // higher than Start and than the previous claim's token; Start, if this is the first claim
	Start        int64 `json:"start"`         // has no meaning in a renewed lease
	Fence        int64 `json:"fence"`
	FloorRaised  bool  `json:"floor_raised"` // by this call, because the store may have forgotten; valid also with an error
}

// Decide returns what a claim changes. s.Records must contain the records of Preferred, of
// Former.Worker and of the claim ID, and some that can be claimed, if any can. A *NoWorkerIDError counts
// these records.
//
// The claimant's clock must be within MaxSkew of the store's. If a record has the claim ID, Decide
// returns its lease unchanged. A worker ID can be claimed if it was never held, or was released, or
// if its fence has passed by MaxSkew, or if it is Former. The lease starts at the last fence
// (Former: at Unused), but not before the namespace's floor, nor before the earlier of the
// claimant's and the store's clocks. Its fence is FenceWindow ahead of the store's clock, or of the
// floor if that is later.
func (c Claim) Decide(s State) (Change, error) {
	ns, maxSkew := s.Namespace, cmp.Or(c.MaxSkew, max(c.FenceWindow/3, 1))
	if s.Missing {
		ns = Namespace{Name: c.Namespace, Layout: c.Layout, FenceWindow: c.FenceWindow, MaxSkew: maxSkew, Version: Version}
	}
	switch {
	case ns.Version > Version:
		return Change{}, Permanent(fmt.Errorf("worker: namespace %q was written by a newer version of snowkey: use that", c.Namespace))
	case ns.Layout != c.Layout:
		return Change{}, &LayoutError{Namespace: c.Namespace, Have: ns.Layout, Want: c.Layout}
	case c.FenceWindow != ns.FenceWindow || maxSkew != ns.MaxSkew:
		return Change{}, &WindowError{Namespace: c.Namespace, HaveWindow: ns.FenceWindow, WantWindow: c.FenceWindow, HaveSkew: ns.MaxSkew, WantSkew: maxSkew}
	case max(c.Now-s.Now, s.Now-c.Now) > ns.MaxSkew:
		return Change{}, &SkewError{Local: time.UnixMilli(c.Now), Store: time.UnixMilli(s.Now), Max: milliseconds(ns.MaxSkew)}
	}
	for _, rec := range s.Records {
		if rec.ClaimID == c.ClaimID && (rec.Status == Held || rec.Status == Kept) {
			return Change{Lease: rec.lease()}, nil
		}
	}
	s.Namespace = ns
	if s.Missing {
		return s.begin()
	}
	if recovered, err := s.recovery(ns.Name); recovered != nil || err != nil {
		return Change{Namespace: recovered}, err
	}
	return c.choose(s)
}

// choose decides which worker ID the claim gets.
func (c Claim) choose(s State) (Change, error) {
	none := NoWorkerIDError{Namespace: c.Namespace, WorkerIDs: c.WorkerIDs}
	if c.RequirePreferred {
		none.WorkerIDs = 1
	}
	now := max(s.Now, s.Namespace.Floor)
	fence := now + c.FenceWindow
	wait := int64(math.MaxInt64)
	best, rank := Change{}, noRank
	for _, rec := range s.Records {
		if rec.Worker >= c.WorkerIDs || c.RequirePreferred && rec.Worker != c.Preferred {
			continue
		}
		own := c.Former.ClaimID != "" && rec.heldUnder(c.Former.ClaimID, c.Former.FencingToken)
		last := rec.Fence
		if own {
			last = c.Former.Unused
		} else if rec.IsHeld(s.Now, s.Namespace.MaxSkew) {
			none.Leased++
			if rec.Status != Kept {
				wait = min(wait, rec.Fence+s.Namespace.MaxSkew+1-s.Now)
			}
			continue
		}
		start := max(last, min(c.Now, s.Now), s.Namespace.Floor)
		switch {
		case rec.Worker == c.Exclude || c.NeverHeld && rec.Status != Unused:
			continue
		case start >= fence:
			none.Ahead++
			wait = min(wait, start-fence+1)
			continue
		}
		r := c.rank(rec, own, start > now)
		if slices.Contains(s.Locked, rec.Worker) {
			r = rankLocked
		}
		if r >= rank {
			continue
		}
		token := max(start, 1)
		if rec.FencingToken > 0 {
			token = max(start, rec.FencingToken) + 1
		}
		rank, best = r, Change{Old: rec, Expired: !own && (rec.Status == Held || rec.Status == Freed), Record: &Record{
			Worker: rec.Worker, ClaimID: c.ClaimID, FencingToken: token, Start: start, Fence: fence,
			Owner: c.Owner, Status: Held,
		}}
	}
	_, known := s.find(c.Preferred)
	switch {
	case c.Preferred >= 0 && c.Preferred != c.Exclude && !known:
		return Change{Make: &c.Preferred}, nil
	case rank < rankLocked || rank == rankLocked && (c.RequirePreferred || s.Count >= c.WorkerIDs):
		best.Lease = best.Record.lease()
		return best, nil
	case !c.RequirePreferred && s.Count < c.WorkerIDs:
		id := int64(MakeAny)
		return Change{Make: &id}, nil
	}
	if wait < math.MaxInt64 {
		none.Wait = milliseconds(max(wait, 1))
	}
	return Change{}, &none
}

// rank orders the worker IDs that can be claimed: first the preferred one; then the claimant's
// former one; those that were held and whose fence has passed; those that were never held, of which
// a backfill needs one; last those that start ahead of the clock. Within a rank, the first record
// is chosen.
func (c Claim) rank(rec Record, own, ahead bool) int {
	switch {
	case rec.Worker == c.Preferred:
		return 0
	case own:
		return 1
	case !ahead && rec.Status != Unused:
		return 2
	case !ahead:
		return 3
	}
	return 4
}

const (
	rankLocked = 5 // after those of rank
	noRank     = 6 // no worker ID can be claimed
)

const maxDuration = 366 * 24 * 3600 * 1000 // a year

// CheckLease returns an error if l cannot be the result of the claim. Package worker checks all
// leases with it, and releases those that do not match; so a store returns them unchecked.
func (c Claim) CheckLease(l Lease) error {
	fits := l.Worker >= 0 && l.Worker < c.WorkerIDs && l.Worker != c.Exclude && (!c.RequirePreferred || l.Worker == c.Preferred)
	if !fits || l.FencingToken < 1 || l.Fence <= l.Start {
		return fmt.Errorf("worker: the store's lease does not match the claim: worker ID %d of %d (Preferred %d, RequirePreferred %t, Exclude %d), fencing token %d, from %d to %d", l.Worker, c.WorkerIDs, c.Preferred, c.RequirePreferred, c.Exclude, l.FencingToken, l.Start, l.Fence)
	}
	return nil
}

// Validate returns a *core.ConfigError with every field that has a wrong value.
func (c Claim) Validate() error {
	var wrong fields.Errors
	checkName(&wrong, "Namespace", c.Namespace)
	if !isPrintable(c.Layout, maxText) {
		wrong.Add("Layout", c.Layout, "must be a fingerprint: 1 to 255 printable ASCII characters")
	}
	if c.WorkerIDs < 1 {
		wrong.Add("WorkerIDs", c.WorkerIDs, "must be at least 1")
	}
	if c.Preferred < -1 || c.Preferred >= c.WorkerIDs {
		wrong.Add("Preferred", c.Preferred, "must be 0 to %d, or -1 for none", c.WorkerIDs-1)
	}
	if c.RequirePreferred && c.Preferred < 0 {
		wrong.Add("RequirePreferred", c.RequirePreferred, "needs Preferred")
	}
	if !isPrintable(c.ClaimID, maxName) {
		wrong.Add("ClaimID", c.ClaimID, "must be 1 to 64 printable ASCII characters")
	}
	if c.Owner != "" && !isPrintable(c.Owner, maxText) {
		wrong.Add("Owner", c.Owner, "must be at most 255 printable ASCII characters")
	}
	if c.FenceWindow < 1 || c.FenceWindow > maxDuration {
		wrong.Add("FenceWindow", c.FenceWindow, "must be 1 millisecond to a year, in milliseconds")
	}
	if c.MaxSkew < 0 || c.FenceWindow > 0 && c.MaxSkew > c.FenceWindow/2 {
		wrong.Add("MaxSkew", c.MaxSkew, "must be 0 for a third of FenceWindow, or at most half of it, in milliseconds")
	}
	if c.Now > math.MaxInt64/4 || c.Now < math.MinInt64/4 {
		wrong.Add("Now", c.Now, "is too far from 1970")
	}
	return wrong.Err("worker")
}
