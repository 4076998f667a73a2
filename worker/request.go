package worker

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Free reports whether the number may be claimed when the store's clock shows now.
func (row Record) Free(now int64) bool { return row.ClaimID == "" || row.Expires < now }

// Span gives what a claim must record for a number whose bound is `until` so
// far: it begins where the last holder could at most have come to, or at the
// claimant's clock, whichever is later. Both are clocks' readings of no weight:
// it is `until` that keeps the spans of a number apart.
func (r Request) Interval(until int64) (from, to int64) {
	from = max(until, r.Now)
	return from, from + r.FenceWindow
}

// Again is the answer to a claim whose first answer was lost: row has its token.
func (r Request) Replay(row Record) Claim {
	return Claim{Worker: row.Worker, FencingToken: row.FencingToken, From: row.Fence - r.FenceWindow, Fence: row.Fence}
}

// Expiry is when a time to live that begins at now ends.
func Expiry(now, ttl int64) int64 {
	if ttl >= NoTTL {
		return NoTTL
	}
	return now + ttl
}

// Allows reports whether the request allows the number, whoever holds it now.
func (r Request) Allows(worker int64) bool {
	return worker >= 0 && worker < r.WorkerIDs && worker != r.Exclude && (!r.RequirePreferred || worker == r.Preferred)
}

// CheckSkew compares the claimant's clock with the store's.
func (r Request) CheckSkew(now int64) error {
	if d := r.Now - now; d > r.MaxSkew || d < -r.MaxSkew {
		return &SkewError{Local: time.UnixMilli(r.Now), Store: time.UnixMilli(now), Max: time.Duration(r.MaxSkew) * time.Millisecond}
	}
	return nil
}

// Check tells what is wrong with the request by itself, in a [core.ConfigError].
func (r Request) Validate() error {
	var faults []core.FieldError
	add := func(field string, value any, reason string) {
		faults = append(faults, core.FieldError{Field: field, Value: fmt.Sprintf("%#v", value), Reason: reason})
	}
	if fault := spaceFault(r.Namespace); fault != nil {
		faults = append(faults, *fault)
	}
	if !printable(r.Layout, maxText) {
		add("Layout", r.Layout, "must be a fingerprint: 1 to 255 printable bytes of ASCII")
	}
	if r.WorkerIDs < 1 {
		add("WorkerIDs", r.WorkerIDs, "must be at least 1")
	}
	if r.Preferred < -1 || r.Preferred >= r.WorkerIDs {
		add("Preferred", r.Preferred, fmt.Sprintf("must be 0 to %d, or -1 for none", r.WorkerIDs-1))
	}
	if r.RequirePreferred && r.Preferred < 0 {
		add("RequirePreferred", r.RequirePreferred, "needs a Preferred number")
	}
	if !printable(r.ClaimID, maxSpace) {
		add("ClaimID", r.ClaimID, "must have 1 to 64 printable bytes of ASCII")
	}
	if !ownerOK(r.Owner) {
		add("Owner", r.Owner, ownerRule)
	}
	const century = 100 * 366 * 24 * 3600 * 1000
	if r.FenceWindow < 1 || r.FenceWindow > century {
		add("FenceWindow", r.FenceWindow, "must be at least 1 millisecond, and not a century")
	}
	if r.TTL < 1 || r.TTL > century && r.TTL != NoTTL {
		add("TTL", r.TTL, "must be at least 1 millisecond, and not a century")
	}
	if r.MaxSkew < 0 {
		add("MaxSkew", r.MaxSkew, "must not be negative")
	}
	if r.MaxLead < 0 {
		add("MaxLead", r.MaxLead, "must not be negative")
	}
	if r.Now > math.MaxInt64/4 || r.Now < math.MinInt64/4 {
		add("Now", r.Now, "lies too far from 1970")
	}
	return configError(faults)
}

const (
	maxSpace = 64
	maxText  = 255
)

const ownerRule = "must be UTF-8 of at most 255 bytes, without control characters"

func ownerOK(owner string) bool {
	return len(owner) <= maxText && utf8.ValidString(owner) && !strings.ContainsFunc(owner, unicode.IsControl)
}

// printable reports whether text has 1 to most bytes, all printable ASCII.
func printable(text string, most int) bool {
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// CheckNamespace says what a name of a space may be: 1 to 64 letters, digits and
// . _ - : / of ASCII. Case counts.
func CheckNamespace(space string) error {
	if fault := spaceFault(space); fault != nil {
		return configError([]core.FieldError{*fault})
	}
	return nil
}

func spaceFault(space string) *core.FieldError {
	ok := space != "" && len(space) <= maxSpace
	for _, c := range []byte(space) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-', c == ':', c == '/':
		default:
			ok = false
		}
	}
	if ok {
		return nil
	}
	return &core.FieldError{Field: "Namespace", Value: fmt.Sprintf("%q", space), Reason: "must be 1 to 64 letters, digits and . _ - : / of ASCII"}
}
