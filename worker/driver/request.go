package driver

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
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

// These are the changes that the verbs make to a record, for stores that read it, change it
// and write it back under a lock or in a compare-and-set.

// Grant returns the record of a claim, and its result, given the record that the worker ID has
// now; a worker ID that was never held has the zero Record with its Worker. now is the
// store's clock.
//
// The claim's validity interval starts at the fence of the present record or at the
// claimant's clock, whichever is later, and has the length of FenceWindow.
func (r Request) Grant(rec Record, now int64) (Record, Claim) {
	from := max(rec.Fence, r.Now)
	c := Claim{Worker: rec.Worker, FencingToken: rec.FencingToken + 1, From: from, Fence: from + r.FenceWindow}
	return Record{Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Owner: r.Owner, Fence: c.Fence, Expires: min(now+r.TTL, NoTTL)}, c
}

// Apply renews the record if it has the renewal's fencing token and claim ID, and reports
// whether it has. now is the store's clock.
func (r Renewal) Apply(rec *Record, now int64) bool {
	if !rec.heldUnder(r.FencingToken, r.ClaimID) {
		return false
	}
	rec.Fence, rec.Expires = max(rec.Fence, r.Fence), min(now+r.TTL, NoTTL)
	return true
}

// Apply frees the record if it has the release's fencing token and claim ID, and reports
// whether it has.
func (r Return) Apply(rec *Record) bool {
	if !rec.heldUnder(r.FencingToken, r.ClaimID) {
		return false
	}
	rec.ClaimID, rec.Fence, rec.Expires = "", r.Fence, 0
	return true
}

// Evict is the change of Admin.Free: it frees the record and keeps its fence, if the worker ID
// is held under the fencing token, and reports whether it is.
func (rec *Record) Evict(fencingToken int64) bool {
	if !rec.heldUnder(fencingToken, rec.ClaimID) {
		return false
	}
	rec.ClaimID, rec.Expires = "", 0
	return true
}

func (rec *Record) heldUnder(fencingToken int64, claimID string) bool {
	return claimID != "" && rec.FencingToken == fencingToken && rec.ClaimID == claimID
}

const (
	maxName     = 64
	maxText     = 255
	maxReserved = 1 << 40 // more than any real reservation
)

// Fingerprint returns the text by which a store knows a layout. Two layouts whose ids mean
// the same have the same fingerprint. The text of a layout never changes.
func Fingerprint(l core.Layout) string {
	l = l.WithDefaults()
	order := "worker,sequence"
	if l.SequenceFirst {
		order = "sequence,worker"
	}
	sign := "signed"
	if l.Unsigned {
		sign = "unsigned"
	}
	return fmt.Sprintf("epoch=%d tick=%d time=%d rollback=%d datacenter=%d worker=%d sequence=%d order=%s %s",
		l.Epoch.UnixMilli(), l.Tick.Milliseconds(), l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits, order, sign)
}

// OfDatacenter returns the fingerprint of a namespace that has the worker IDs of one datacenter
// only, from the fingerprint of its layout.
func OfDatacenter(fingerprint string, datacenter int64) string {
	return fmt.Sprintf("%s only-datacenter=%d", fingerprint, datacenter)
}

// CheckNamespace returns a *core.ConfigError unless the name is 1 to 64 ASCII letters,
// digits and . _ - : /. Case is significant.
func CheckNamespace(name string) error {
	var wrong fields.Errors
	checkName(&wrong, "Namespace", name)
	return wrong.Err("worker")
}

// CheckReservation returns a *core.ConfigError if a store cannot reserve n numbers under
// the key: the rules for a key are those for a namespace, and n is 1 to 2^40.
func CheckReservation(key string, n int64) error {
	var wrong fields.Errors
	checkName(&wrong, "key", key)
	if n < 1 || n > maxReserved {
		wrong.Add("n", n, "must be 1 to %d", int64(maxReserved))
	}
	return wrong.Err("worker")
}

func checkName(wrong *fields.Errors, field, name string) {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:/"
	if name == "" || len(name) > maxName || strings.Trim(name, allowed) != "" {
		wrong.Add(field, name, "must be 1 to 64 letters, digits and . _ - : / of ASCII")
	}
}

// printable reports whether text has 1 to most bytes, all printable ASCII.
func printable(text string, most int) bool {
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// GeneratorClaim is the prefix of the claim ID of a worker ID that a generator in SQL holds: see
// ddl.Generator. Its record never expires, and its fence is the end of the layout's time. So no
// build of this module claims it, even after [Admin.Free].
const GeneratorClaim = "sql-generator:"

// OfGenerator reports whether a generator in SQL holds the worker ID. Do not free it. Drop the
// generator, which releases it.
func (rec Record) OfGenerator() bool { return strings.HasPrefix(rec.ClaimID, GeneratorClaim) }
