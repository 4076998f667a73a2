package driver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
)

// Version is the version of the stored data. A store refuses a namespace with a higher version.
const Version = 1

// A Namespace is a store's record of a namespace.
type Namespace struct {
	Name        string `json:"namespace"`
	Layout      string `json:"layout"`       // the fingerprint of its first claim
	FenceWindow int64  `json:"fence_window"` // of all claims
	MaxSkew     int64  `json:"max_skew"`     // by how much clocks may differ
	Incarnation string `json:"incarnation"`  // of the server that granted the last claims: which server, in which life
	Since       int64  `json:"since"`        // the store's clock, or the floor if that was later, when Incarnation was recorded: only leases with a later fence are renewed
	Floor       int64  `json:"floor"`        // no claim starts before it
	Seen        int64  `json:"seen"`         // how many records were made
	Version     int64  `json:"version"`
}

// step returns by how much the floor rises: no forgotten fence is further ahead of the clock.
func (ns Namespace) step() int64 { return ns.FenceWindow + ns.MaxSkew }

// A Status says who may claim a worker ID. Stores keep its values as they are.
type Status string

// The statuses.
const (
	Unused   Status = "unused"   // it was never held
	Held     Status = "held"     // by a claim; others can claim it when its fence has passed by MaxSkew
	Kept     Status = "kept"     // held, by a claim that never expires
	Released Status = "released" // it can be claimed
	Freed    Status = "freed"    // by an operator: it is no longer renewed, and can be claimed like a held one
)

// A Record is a store's record of one worker ID.
type Record struct {
	Worker       int64  `json:"worker_id"`
	ClaimID      string `json:"claim_id"`      // of the last claim
	FencingToken int64  `json:"fencing_token"` // of the last claim; 0: it was never held
	Start        int64  `json:"start"`         // of the last claim: its ids carry this time or a later one
	Fence        int64  `json:"fence"`         // no id carries this instant or a later one
	Owner        string `json:"owner"`         // of the last claim
	Status       Status `json:"state"`
}

// IsHeld reports whether the worker ID has a holder when the store's clock shows now. A holder that
// has crashed counts until its fence has passed by maxSkew.
func (rec Record) IsHeld(now, maxSkew int64) bool {
	switch rec.Status {
	case Kept:
		return true
	case Held, Freed:
		return rec.Fence+maxSkew >= now
	}
	return false
}

func (rec Record) lease() Lease {
	return Lease{Worker: rec.Worker, FencingToken: rec.FencingToken, Start: rec.Start, Fence: rec.Fence}
}

// heldUnder reports whether the claim has the record, even if it has expired.
func (rec Record) heldUnder(claimID string, fencingToken int64) bool {
	return (rec.Status == Held || rec.Status == Kept) && rec.FencingToken == fencingToken && rec.ClaimID == claimID
}

// A State is what a store has read of a namespace in one statement.
//
// A store may keep an index of its namespaces, to tell a new namespace from one that was forgotten.
// The index is one more namespace, without a name, a layout and records. Its Count and Seen count
// namespaces instead of records. Without an index, New decides.
type State struct {
	Now    int64  `json:"now"`    // the store's clock
	Server string `json:"server"` // the incarnation of the server that has answered

	Namespace Namespace `json:"namespace"`
	Missing   bool      `json:"missing"` // the store has no such namespace
	New       bool      `json:"new"`     // it is missing, and certainly never existed
	Index     *State    `json:"-"`       // the index of the namespaces, if this one is missing; nil: the store has no index

	Locked []int64 `json:"-"` // worker IDs whose records others keep locked, to be claimed last; see Transact

	Count   int64    `json:"count"`   // how many records the namespace has
	Records []Record `json:"records"` // for Renew and Release at least the worker ID's; for Claim see [Claim.Decide]
}

// Forgot reports whether the store may have lost acknowledged writes since the incarnation was
// recorded: another server answers, or the same one in another life, or records are missing.
func (s State) Forgot() bool {
	return s.Namespace.Incarnation != s.Server || s.Count < s.Namespace.Seen
}

// Listed returns the state for Admin.List: only records that were ever held, sorted by worker ID.
func (s State) Listed() State {
	s.Records = slices.DeleteFunc(s.Records, func(rec Record) bool { return rec.Status == Unused })
	slices.SortFunc(s.Records, func(a, b Record) int { return cmp.Compare(a.Worker, b.Worker) })
	return s
}

// find returns the record of a worker ID.
func (s State) find(worker int64) (Record, bool) {
	for _, rec := range s.Records {
		if rec.Worker == worker {
			return rec, true
		}
	}
	return Record{}, false
}

// A Change is what a store writes in one atomic step. The store writes the fields that are set, if
// these parts of the State are still as they were read:
//
//   - Namespace: the namespace, or that it is missing.
//   - Index: the index, or that it is missing. It may come with a Namespace.
//   - Make: the namespace. Its Seen rises in the same step by the number of records made. If it rose
//     later, new records could hide that others were deleted.
//   - Record: the record, and the namespace's Floor and Seen. The recorded incarnation must be that
//     of the server that writes. But if it was already different when the State was read (a
//     renewal when the floor may not rise), it must still be different, and the record's fence
//     must be later than the floor. If Expired, the fence of the old record must have passed by
//     MaxSkew, by the clock of the server that writes.
//
// The store then decides again, unless Record or nothing was set: that is the last change.
type Change struct {
	Index     *Namespace // replaces State.Index.Namespace
	Namespace *Namespace // replaces State.Namespace
	Make      *int64     // make an unused record of this worker ID; [MakeAny]: of the lowest worker IDs without one, up to [MakeAtOnce]
	Record    *Record    // replaces Old
	Old       Record     // the record as it was read; valid with Record
	Expired   bool       // it is a claim of a worker ID that was held or freed
	Lease     Lease      // the result, if Index, Namespace and Make are nil
}

// Values of Change.Make.
const (
	MakeAny    = -1
	MakeAtOnce = 64
)

// present returns the namespace with the server's incarnation, and the floor as it is.
func (s State) present() Namespace {
	ns := s.Namespace
	ns.Incarnation, ns.Since, ns.Seen = s.Server, s.Now, s.Count
	return ns
}

// raiseFloor returns the namespace with the server's incarnation, and a floor above every fence that the
// store may have forgotten.
//
// While the last floor is ahead of the clock, claims may have started there with worker IDs whose
// records were missing. If those records are back, their old holders must not renew. Their fences are
// at most that floor, so Since is not before it.
func (s State) raiseFloor() Namespace {
	ns := s.present()
	ns.Since = max(ns.Floor, s.Now)
	ns.Floor = ns.Since + ns.step()
	return ns
}

// recovery returns the namespace to be written before the store may grant again, or nil if it has not
// forgotten. If the floor is so far ahead that it may not rise further, the error is a *FloorError, for the
// namespace with this name: the index has none.
//
// The generator of package ddl has the same rules in SQL.
func (s State) recovery(name string) (*Namespace, error) {
	if !s.Forgot() {
		return nil, nil
	}
	ns := s.Namespace
	if ns.Floor > s.Now+ns.step() && ns.Floor <= s.Now+3*ns.step() { // one further ahead was raised by hand
		return nil, &FloorError{Namespace: name, Floor: ns.Floor, Wait: ns.Floor - ns.step() - s.Now}
	}
	ns = s.raiseFloor()
	return &ns, nil
}

// first returns the missing namespace as it begins: above every fence that it may have had, unless it is
// new.
func (s State) first() Namespace {
	if s.New && !slices.ContainsFunc(s.Records, func(rec Record) bool { return rec.FencingToken > 0 }) {
		return s.present()
	}
	return s.raiseFloor()
}

// begin returns the change that begins the missing namespace. With an index, which counts it, the index
// may first need changes: it begins, too, or recovers.
func (s State) begin() (Change, error) {
	if s.Index == nil {
		ns := s.first()
		return Change{Namespace: &ns}, nil
	}
	ns, all := s.present(), *s.Index
	index := &all.Namespace // with the greatest step of all namespaces
	index.FenceWindow, index.MaxSkew = max(index.FenceWindow, ns.FenceWindow), max(index.MaxSkew, ns.MaxSkew)
	if all.Missing {
		index.Version = Version
		*index = all.first()
		return Change{Index: index}, nil
	}
	if recovered, err := all.recovery(ns.Name); recovered != nil || err != nil {
		return Change{Index: recovered}, err
	}
	if index.Floor > 0 { // it was put back, perhaps to before this namespace, whose step may be the greater one
		ns.Floor = max(index.Floor, index.Since+ns.step())
	}
	index.Seen++
	return Change{Index: index, Namespace: &ns}, nil
}

// Raise returns the change of Admin.Raise. s must have all records of the namespace.
func (s State) Raise(fenceWindow int64) (Change, error) {
	ns := s.raiseFloor()
	switch {
	case s.Missing:
		return Change{}, fmt.Errorf("driver: there is no namespace %q", ns.Name)
	case fenceWindow < 0 || fenceWindow > maxDuration:
		return Change{}, fields.Error("driver", "FenceWindow", fenceWindow, "must be 1 millisecond to a year, in milliseconds, or 0 for the present one")
	case fenceWindow != 0:
		if third := max(ns.FenceWindow/3, 1); ns.MaxSkew == third || ns.MaxSkew > fenceWindow/2 {
			ns.MaxSkew = max(fenceWindow/3, 1)
		}
		ns.FenceWindow = fenceWindow
		ns.Floor = max(ns.Floor, ns.Since+ns.step())
	}
	for _, rec := range s.Records {
		if !rec.OfGenerator() {
			ns.Floor = max(ns.Floor, rec.Fence+ns.step())
		}
	}
	return Change{Namespace: &ns}, nil
}

// OfGenerator reports whether a generator in SQL holds the worker ID: see ddl.Generator. Its record never
// expires, and its fence is the end of the layout's time. So the worker ID cannot be claimed, even after
// [Admin.Free]: drop the generator, which releases it.
func (rec Record) OfGenerator() bool {
	return strings.HasPrefix(rec.ClaimID, leasetables.GeneratorClaim)
}
