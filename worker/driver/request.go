package driver

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// NoTTL is a time to live that never ends: the worker ID is freed by Release or by
// [Admin.Free] only.
const NoTTL = 1 << 53

// A Request is the argument of Claim.
type Request struct {
	Namespace        string // see [CheckNamespace]
	Layout           string // the layout's [Fingerprint]; a namespace keeps its first one
	WorkerIDs        int64  // the namespace has the worker IDs 0 to WorkerIDs-1
	Preferred        int64  // is claimed if it is free; -1: none
	RequirePreferred bool   // no worker ID but Preferred will do
	Exclude          int64  // is not claimed; -1: none
	ClaimID          string // random, new for each claim, and the same if the claim is repeated
	Owner            string // names the holder, for operators
	Now              int64  // the claimant's wall clock
	FenceWindow      int64  // how far the fence lies beyond the claim's first instant
	TTL              int64  // how long after a claim or a renewal others may claim the worker ID; NoTTL: never
	MaxSkew          int64  // if Now is further than this from the store's clock, Claim returns a *SkewError
	MaxLead          int64  // a worker ID whose interval would start further ahead of Now is not claimed
}

// A Claim is the result of Claim: a worker ID and its validity interval. Ids of the claim
// carry times from From to before Fence.
type Claim struct {
	Worker       int64
	FencingToken int64 // counts the claims of this worker ID, from 1
	From         int64
	Fence        int64
}

// A Renewal is the argument of Renew.
type Renewal struct {
	Namespace    string
	Worker       int64
	FencingToken int64
	ClaimID      string
	Fence        int64
	TTL          int64
}

// A Return is the argument of Release.
type Return struct {
	Namespace    string
	Worker       int64
	FencingToken int64
	ClaimID      string
	Fence        int64 // the first instant that no id carries
}

// A Record is what a store keeps of one worker ID.
type Record struct {
	Worker       int64
	FencingToken int64
	ClaimID      string // empty: free
	Owner        string // of the last claim
	Fence        int64  // no id carries this instant or a later one
	Expires      int64  // when others may claim the worker ID, by the store's clock
}

// Free reports whether the worker ID may be claimed when the store's clock shows now.
func (rec Record) Free(now int64) bool { return rec.ClaimID == "" || rec.Expires < now }

// Replay returns the result of a claim that was granted before, and whose answer was lost:
// the record has its claim ID.
func (r Request) Replay(rec Record) Claim {
	return Claim{Worker: rec.Worker, FencingToken: rec.FencingToken, From: rec.Fence - r.FenceWindow, Fence: rec.Fence}
}

// allows reports whether the request may be answered with the worker ID, regardless
// of its holder.
func (r Request) allows(worker int64) bool {
	return worker >= 0 && worker < r.WorkerIDs && worker != r.Exclude && (!r.RequirePreferred || worker == r.Preferred)
}

// CheckClaim returns an error if c cannot be the result of the request. Package worker checks all
// claims with it, and releases those that do not match; so a store returns them as they are.
func (r Request) CheckClaim(c Claim) error {
	if !r.allows(c.Worker) || c.FencingToken < 1 || c.Fence <= c.From || c.Fence-c.From > r.FenceWindow {
		return fmt.Errorf("worker: the store's claim does not match the request: worker ID %d of %d (Preferred %d, RequirePreferred %t, Exclude %d), fencing token %d, from %d to %d, FenceWindow %d", c.Worker, r.WorkerIDs, r.Preferred, r.RequirePreferred, r.Exclude, c.FencingToken, c.From, c.Fence, r.FenceWindow)
	}
	return nil
}

// CheckSkew returns a *SkewError if the claimant's clock is further than MaxSkew from the
// store's, which shows now.
func (r Request) CheckSkew(now int64) error {
	if d := r.Now - now; d > r.MaxSkew || d < -r.MaxSkew {
		return &SkewError{Local: time.UnixMilli(r.Now), Store: time.UnixMilli(now), Max: time.Duration(r.MaxSkew) * time.Millisecond}
	}
	return nil
}

// Validate returns a *core.ConfigError with every field that has a wrong value.
func (r Request) Validate() error {
	var wrong fields.Errors
	checkName(&wrong, "Namespace", r.Namespace)
	if !printable(r.Layout, maxText) {
		wrong.Add("Layout", r.Layout, "must be a fingerprint: 1 to 255 printable ASCII characters")
	}
	if r.WorkerIDs < 1 {
		wrong.Add("WorkerIDs", r.WorkerIDs, "must be at least 1")
	}
	if r.Preferred < -1 || r.Preferred >= r.WorkerIDs {
		wrong.Add("Preferred", r.Preferred, "must be 0 to %d, or -1 for none", r.WorkerIDs-1)
	}
	if r.RequirePreferred && r.Preferred < 0 {
		wrong.Add("RequirePreferred", r.RequirePreferred, "needs Preferred")
	}
	if !printable(r.ClaimID, maxName) {
		wrong.Add("ClaimID", r.ClaimID, "must be 1 to 64 printable ASCII characters")
	}
	if len(r.Owner) > maxText || !utf8.ValidString(r.Owner) || strings.ContainsFunc(r.Owner, unicode.IsControl) {
		wrong.Add("Owner", r.Owner, "must be UTF-8 of at most 255 bytes, without control characters")
	}
	const century = 100 * 366 * 24 * 3600 * 1000
	if r.FenceWindow < 1 || r.FenceWindow > century {
		wrong.Add("FenceWindow", r.FenceWindow, "must be 1 millisecond to 100 years, in milliseconds")
	}
	if r.TTL < 1 || r.TTL > century && r.TTL != NoTTL {
		wrong.Add("TTL", r.TTL, "must be 1 millisecond to 100 years, in milliseconds")
	}
	if r.MaxSkew < 0 {
		wrong.Add("MaxSkew", r.MaxSkew, "must not be negative")
	}
	if r.MaxLead < 0 {
		wrong.Add("MaxLead", r.MaxLead, "must not be negative")
	}
	if r.Now > math.MaxInt64/4 || r.Now < math.MinInt64/4 {
		wrong.Add("Now", r.Now, "is too far from 1970")
	}
	return wrong.Err("worker")
}
