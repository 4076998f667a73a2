package driver

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
	return Record{Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: r.ClaimID, Owner: r.Owner, Fence: c.Fence, Expires: expiry(now, r.TTL)}, c
}

func expiry(now, ttl int64) int64 {
	if ttl >= NoTTL {
		return NoTTL
	}
	return now + ttl
}

// Apply renews the record if it has the renewal's fencing token and claim ID, and reports
// whether it has. now is the store's clock.
func (r Renewal) Apply(rec *Record, now int64) bool {
	if !rec.heldUnder(r.FencingToken, r.ClaimID) {
		return false
	}
	rec.Fence, rec.Expires = max(rec.Fence, r.Fence), expiry(now, r.TTL)
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
