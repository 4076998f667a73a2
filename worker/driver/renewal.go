package driver

// A Renewal is the argument of Store.Renew.
type Renewal struct {
	Namespace    string `json:"namespace"`
	Worker       int64  `json:"worker_id"`
	ClaimID      string `json:"claim_id"`
	FencingToken int64  `json:"fencing_token"`
	FenceWindow  int64  `json:"fence_window"` // how far the fence lies beyond the store's clock
	Keep         bool   `json:"keep"`         // the lease never expires from now on: Release and Admin.Free end it
}

// Decide returns what a renewal changes.
//
// The worker ID must be held under the claim, and its fence must be later than Since: otherwise a
// forgotten claim may have had the worker ID. The fence rises to the smaller of the two FenceWindows
// ahead of the store's clock, or of the floor if that is later. It is never lowered.
func (r Renewal) Decide(s State) (Change, error) {
	rec, ok := s.find(r.Worker)
	switch {
	case s.Missing || !ok || rec.FencingToken < r.FencingToken:
		return Change{}, ErrForgotten
	case !rec.heldUnder(r.ClaimID, r.FencingToken):
		return Change{}, ErrNotHeld
	}
	since, forgot := s.Namespace.Since, s.Namespace.Incarnation != s.Server
	switch {
	case forgot && s.Namespace.Floor > s.Now+s.Namespace.step():
		since = s.Namespace.Floor // it may not rise further
	case forgot:
		ns := s.raiseFloor()
		return Change{Namespace: &ns}, nil
	}
	if rec.Fence <= since {
		return Change{}, ErrForgotten
	}
	old := rec
	rec.Fence = max(rec.Fence, max(s.Now, s.Namespace.Floor)+min(r.FenceWindow, s.Namespace.FenceWindow))
	if r.Keep {
		rec.Status = Kept
	}
	return Change{Record: &rec, Old: old, Lease: rec.lease()}, nil
}

// A Release is the argument of Store.Release.
type Release struct {
	Namespace    string `json:"namespace"`
	Worker       int64  `json:"worker_id"`
	ClaimID      string `json:"claim_id"`
	FencingToken int64  `json:"fencing_token"`
	Unused       int64  `json:"unused"` // the first instant that no id carries
}

// Decide returns the record after a release. The worker ID must be held under the claim. Its fence
// becomes Unused, which may be lower than before.
func (r Release) Decide(rec Record) (Record, error) {
	if !rec.heldUnder(r.ClaimID, r.FencingToken) {
		return Record{}, ErrNotHeld
	}
	rec.Fence, rec.Status = r.Unused, Released
	return rec, nil
}

// Free returns the record after Admin.Free. The worker ID must be held under the fencing token.
func (rec Record) Free(fencingToken int64) (Record, error) {
	if !rec.heldUnder(rec.ClaimID, fencingToken) {
		return Record{}, ErrNotHeld
	}
	rec.Status = Freed
	return rec, nil
}
