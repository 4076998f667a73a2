package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The first claim of a namespace starts at the claimant's clock, or at a floor if the store may
// have forgotten the namespace.
func firstClaim(t *testing.T, s *suite) {
	if st := s.list(t); !st.Missing || len(st.Records) > 0 {
		t.Errorf("List returned %+v before the first claim", st)
	}
	now := clock()
	h := s.claim(t, s.Open(t), func(c *driver.Claim) { c.Now = now - slack })
	st := s.list(t)
	ns := st.Namespace
	if h.Start != max(now-slack, ns.Floor) || h.FencingToken != h.Start {
		t.Errorf("the first claim is %+v, want one from %d, which is also its fencing token", h.Lease, max(now-slack, ns.Floor))
	}
	if ns.Floor > now+step+slack {
		t.Errorf("the floor is %d, which is more than %d ms ahead of the clock", ns.Floor, step)
	}
	mustAbout(t, "the fence", h.Fence, max(now, ns.Floor)+window)
	mustAbout(t, "Since", ns.Since, now)
	if st.Missing || ns.Layout != "layout 1" || ns.FenceWindow != window || ns.MaxSkew != spread || ns.Incarnation == "" || ns.Incarnation != st.Server || ns.Version != driver.Version || ns.Seen != 1 {
		t.Errorf("after the first claim, List returned %+v", st)
	}
	want := driver.Record{Worker: h.Worker, ClaimID: h.claimID, FencingToken: h.FencingToken, Start: h.Start, Fence: h.Fence, Owner: "storetest", Status: driver.Held}
	if len(st.Records) != 1 || st.Records[0] != want {
		t.Errorf("after the first claim, List returned the records %+v, want %+v", st.Records, want)
	}
}

func runOut(t *testing.T, s *suite) {
	store := s.Open(t)
	seen := map[int64]bool{}
	for range 4 {
		h := s.claim(t, store, nil)
		if seen[h.Worker] {
			t.Errorf("worker ID %d was given twice", h.Worker)
		}
		seen[h.Worker] = true
	}
	_, err := s.try(t, s.Open(t), nil)
	var none *driver.NoWorkerIDError
	if !errors.As(err, &none) || !errors.Is(err, driver.ErrNoWorkerID) || none.WorkerIDs != 4 || none.Leased != 4 || none.Namespace != s.namespace {
		t.Errorf("a claim when all are leased: %v, want a NoWorkerIDError with 4 leased of 4", err)
	}
	if none != nil && (none.Wait <= 0 || none.Wait > 3*step*time.Millisecond) {
		t.Errorf("the error says that the next may be free in %v", none.Wait)
	}
}

func preferred(t *testing.T, s *suite) {
	store := s.Open(t)
	for _, n := range []int64{2, 0} {
		if h := s.claim(t, store, func(c *driver.Claim) { c.Preferred = n }); h.Worker != n {
			t.Errorf("worker ID %d was free and preferred, and %d was given", n, h.Worker)
		}
	}
	third := s.claim(t, store, func(c *driver.Claim) { c.Preferred = 2 })
	if third.Worker == 2 || third.Worker == 0 {
		t.Errorf("worker ID %d was given twice", third.Worker)
	}
	if _, err := s.try(t, store, only(2)); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("a claim that requires a worker ID that is held: %v, want ErrNoWorkerID", err)
	}
	last := 4 - third.Worker // 1 and 3 were left
	if _, err := s.try(t, store, func(c *driver.Claim) { c.Exclude = last }); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("a claim that excludes the last free worker ID: %v, want ErrNoWorkerID", err)
	}
	must(t, third.release(t.Context(), third.Start))
	if h := s.claim(t, store, only(third.Worker)); h.Worker != third.Worker {
		t.Errorf("worker ID %d was required, and %d was given", third.Worker, h.Worker)
	}
	// Records are made at once up to some number, but the preferred one is far beyond.
	if h := s.claim(t, store, func(c *driver.Claim) { c.Namespace, c.WorkerIDs, c.Preferred = s.namespace+"2", 1024, 1000 }); h.Worker != 1000 {
		t.Errorf("worker ID 1000 was free and preferred, and %d was given", h.Worker)
	}
}

func renew(t *testing.T, s *suite) {
	h := s.claim(t, s.Open(t), func(c *driver.Claim) { c.FenceWindow = window / 2; c.MaxSkew = 0 })
	if ns := s.list(t).Namespace; ns.FenceWindow != window/2 || ns.MaxSkew != window/6 {
		t.Errorf("a claim with FenceWindow %d has made the namespace %+v", window/2, ns)
	}
	floor := s.floor(t)
	time.Sleep(5 * time.Millisecond)
	before := h.Fence
	must(t, h.renew(t.Context())) // it asks for more than the namespace allows
	mustAbout(t, "the renewed fence", h.Fence, max(clock(), floor)+window/2)
	if h.Fence <= before && floor == 0 {
		t.Errorf("the fence was %d, and is %d after a renewal", before, h.Fence)
	}
	short := driver.Renewal{Namespace: h.namespace, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.claimID, FenceWindow: 1}
	if l, err := h.store.Renew(t.Context(), short); err != nil || l.Fence != h.Fence {
		t.Errorf("%+v, renewed with a FenceWindow of 1, is %+v, %v: the fence must not change", h.Lease, l, err)
	}
	if rec := s.list(t).Records[0]; rec.Fence != h.Fence || rec.Status != driver.Held {
		t.Errorf("%+v is listed as %+v", h.Lease, rec)
	}
}

// neither is a worker ID of the four that is not one of these two.
func neither(a, b int64) (n int64) {
	for n == a || n == b {
		n++
	}
	return n
}

// guarded checks that what is asked under another claim than that of h changes nothing.
func (s *suite) guarded(t *testing.T, h, other *holder, ask func(*holder) error) {
	t.Helper()
	before := s.list(t).Records
	for what, change := range map[string]func(*holder){
		"another claim ID":              func(h *holder) { h.claimID = other.claimID },
		"no claim ID":                   func(h *holder) { h.claimID = "" },
		"the fencing token before":      func(h *holder) { h.FencingToken-- },
		"a later fencing token":         func(h *holder) { h.FencingToken++ },
		"another's worker ID":           func(h *holder) { h.Worker = other.Worker },
		"a worker ID never held":        func(h *holder) { h.Worker = neither(h.Worker, other.Worker) },
		"a worker ID out of range":      func(h *holder) { h.Worker = 99 },
		"another namespace":             func(h *holder) { h.namespace += "x" },
		"worker ID -1, fencing token 0": func(h *holder) { h.Worker, h.FencingToken = -1, 0 },
	} {
		wrong := *h
		change(&wrong)
		mustNotHeld(t, what, ask(&wrong))
	}
	for i, rec := range s.list(t).Records {
		if rec != before[i] {
			t.Errorf("%+v was changed to %+v", before[i], rec)
		}
	}
}

func renewGuarded(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	h, other := s.claim(t, store, nil), s.claim(t, store, nil)
	s.guarded(t, h, other, func(h *holder) error { return h.renew(ctx) })
	must(t, h.release(ctx, h.Start))
	mustNotHeld(t, "renewed after release", h.renew(ctx))
	next := s.claim(t, store, only(h.Worker))
	mustNotHeld(t, "renewed after another's claim", h.renew(ctx))
	must(t, next.renew(ctx))
	must(t, other.renew(ctx)) // it is unharmed
}

func release(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	last := s.claim(t, store, only(1))
	for i, used := range []int64{20_000, 5_000, 10} { // the claimants' clocks are behind the fence
		unused := last.Start + used
		must(t, last.release(ctx, unused))
		next := s.claim(t, store, func(c *driver.Claim) { only(1)(c); c.Now -= int64(i) * 2000 })
		if next.Start != unused || next.FencingToken <= last.FencingToken {
			t.Errorf("%+v was released from %d on; the next claim is %+v", last.Lease, unused, next.Lease)
		}
		last = next
		if last.Fence-last.Start < window/2 {
			break
		}
	}
	must(t, last.renew(ctx))
}

func releaseGuarded(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	h, other := s.claim(t, store, nil), s.claim(t, store, nil)
	s.guarded(t, h, other, func(h *holder) error { return h.release(ctx, h.Start) })
	must(t, h.renew(ctx)) // it is still held
	unused := h.Start + 10_000
	must(t, h.release(ctx, unused))
	mustNotHeld(t, "released twice", h.release(ctx, 0))
	next := s.claim(t, store, only(h.Worker))
	mustNotHeld(t, "released after another's claim", h.release(ctx, 0))
	if next.Start != unused {
		t.Errorf("the next claim starts at %d, want %d", next.Start, unused)
	}
	must(t, next.renew(ctx))
}

// A claim whose answer was lost is repeated with the same claim ID.
func repeated(t *testing.T, s *suite) {
	store := s.Open(t)
	c := s.request()
	first, err := store.Claim(t.Context(), c)
	must(t, err)
	first.FloorRaised = false
	c.Now += 7 // as time goes on
	again, err := store.Claim(t.Context(), c)
	must(t, err)
	if again != first {
		t.Errorf("the claim was %+v, and repeated %+v: want the same", first, again)
	}
	h := &holder{Lease: first, store: store, namespace: c.Namespace, claimID: c.ClaimID}
	must(t, h.renew(t.Context()))
	if late, err := store.Claim(t.Context(), c); err != nil || late != h.Lease {
		t.Errorf("%+v was renewed as %+v, and repeated as %+v, %v", first, h.Lease, late, err)
	}
	must(t, h.renew(t.Context())) // it did no harm
	for range 3 {
		s.claim(t, store, nil) // and took no second worker ID
	}
}

// A claim ID has one worker ID, whatever else the request that repeats it asks for: otherwise a
// lease would hold a worker ID that it does not know of.
func repeatedOtherwise(t *testing.T, s *suite) {
	store := s.Open(t)
	c := s.request()
	first, err := store.Claim(t.Context(), c)
	must(t, err)
	first.FloorRaised = false
	other := s.claim(t, store, nil)
	for what, change := range map[string]func(*driver.Claim){
		"RequirePreferred": func(c *driver.Claim) { only(neither(first.Worker, other.Worker))(c) },
		"Exclude":          func(c *driver.Claim) { c.Exclude = first.Worker },
		"Exclude, and Now": func(c *driver.Claim) { c.Exclude, c.Now = first.Worker, c.Now-slack },
		"Former":           func(c *driver.Claim) { c.Former = other.former(other.Start) },
		"nothing":          func(*driver.Claim) {},
	} {
		again := c
		change(&again)
		if l, err := store.Claim(t.Context(), again); err != nil || l != first {
			t.Errorf("the claim was %+v, and repeated with a change of %s: %+v, %v, want the same", first, what, l, err)
		}
	}
	must(t, other.renew(t.Context()))
	for range 2 {
		s.claim(t, store, nil) // it took no second worker ID
	}
}

// A holder that has closed its grant claims its own worker ID at once, from where it was unused.
func former(t *testing.T, s *suite) {
	store := s.Open(t)
	old := s.claim(t, store, func(c *driver.Claim) { c.WorkerIDs = 1 })
	unused := old.Start + 10_000
	for what, f := range map[string]driver.Former{
		"another claim ID": {Worker: old.Worker, ClaimID: "x", FencingToken: old.FencingToken, Unused: unused},
		"another token":    {Worker: old.Worker, ClaimID: old.claimID, FencingToken: old.FencingToken - 1, Unused: unused},
		"no claim ID":      {Worker: old.Worker, FencingToken: old.FencingToken, Unused: unused},
	} {
		if h, err := s.try(t, store, func(c *driver.Claim) { c.WorkerIDs, c.Former = 1, f }); !errors.Is(err, driver.ErrNoWorkerID) {
			t.Errorf("a claim whose Former has %s: %+v, %v, want ErrNoWorkerID", what, h, err)
		}
	}
	own := s.claim(t, store, func(c *driver.Claim) { c.WorkerIDs, c.Former = 1, old.former(unused) })
	if own.Start != unused || own.FencingToken <= old.FencingToken {
		t.Errorf("%+v was not used from %d on; its next claim is %+v", old.Lease, unused, own.Lease)
	}
	mustNotHeld(t, "renewed after its own next claim", old.renew(t.Context()))
	mustNotHeld(t, "released after its own next claim", old.release(t.Context(), unused))
	must(t, own.renew(t.Context()))
}

func takeover(t *testing.T, s *suite) {
	h := s.claim(t, s.Open(t), nil)
	other := s.Open(t)
	held := func(when string) {
		t.Helper()
		if _, err := s.try(t, other, only(h.Worker)); !errors.Is(err, driver.ErrNoWorkerID) {
			t.Fatalf("a claim of a worker ID that is held, %s: %v, want ErrNoWorkerID", when, err)
		}
	}
	held("at once")
	s.pass(t, h.Fence-clock()+spread-slack, h) // its fence has passed, but not by MaxSkew
	held("after its fence")
	must(t, h.renew(t.Context())) // it has expired, and can be renewed as long as there is no other
	mustAbout(t, "the renewed fence", h.Fence, max(clock(), s.floor(t))+window)
	s.pass(t, h.Fence-clock()+spread+1, h)
	next := s.claim(t, other, func(c *driver.Claim) { only(h.Worker)(c); c.Now -= slack })
	if next.Start < h.Fence || next.Start > max(clock(), s.floor(t)) || next.FencingToken <= h.FencingToken {
		t.Errorf("after %+v expired, the next claim is %+v", h.Lease, next.Lease)
	}
	mustNotHeld(t, "renewed after the takeover", h.renew(t.Context()))
	mustNotHeld(t, "released after the takeover", h.release(t.Context(), h.Start))
	must(t, next.renew(t.Context()))
}

// A claim that asks for it never expires, from its first renewal on.
func kept(t *testing.T, s *suite) {
	store := s.Open(t)
	one := func(c *driver.Claim) { c.WorkerIDs = 1 }
	h := s.claim(t, store, one)
	h.keep = true
	s.pass(t, 10*step, h)
	h = s.claim(t, store, one) // the late copy of a claim has not leased the worker ID for ever
	h.keep = true
	must(t, h.renew(t.Context()))
	s.pass(t, 10*step, h)
	_, err := s.try(t, s.Open(t), one)
	var none *driver.NoWorkerIDError
	if !errors.As(err, &none) || none.Wait != 0 || none.Leased != 1 {
		t.Errorf("a claim when the only worker ID is kept: %v, want a NoWorkerIDError without a Wait", err)
	}
	if st := s.list(t); st.Records[0].Status != driver.Kept {
		t.Errorf("a lease that is kept is listed as %+v", st.Records[0])
	}
	must(t, h.renew(t.Context()))
	h.keep = false
	must(t, h.renew(t.Context()))
	s.pass(t, 10*step, h)
	if _, err := s.try(t, store, one); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("a claim after a renewal without Keep: %v: what is kept once remains so", err)
	}
	must(t, h.release(t.Context(), h.Start))
	s.claim(t, store, one)
}

// What an operator frees is not renewed, and can be claimed as if it had expired.
func freed(t *testing.T, s *suite) {
	store := s.Open(t)
	for _, keep := range []bool{false, true} {
		h := s.claim(t, store, only(2))
		h.keep = keep
		must(t, h.renew(t.Context()))
		must(t, store.(driver.Admin).Free(t.Context(), s.namespace, 2, h.FencingToken))
		mustNotHeld(t, "renewed after it was freed", h.renew(t.Context()))
		mustNotHeld(t, "released after it was freed", h.release(t.Context(), h.Start))
		if got, err := s.try(t, store, func(c *driver.Claim) { only(2)(c); c.Former = h.former(h.Start) }); !errors.Is(err, driver.ErrNoWorkerID) {
			t.Errorf("a claim before the fence of a worker ID that was freed: %+v, %v, want ErrNoWorkerID", got, err)
		}
		s.pass(t, h.Fence-clock()+spread+1, h)
		next := s.claim(t, store, only(2))
		if next.Start < h.Fence {
			t.Errorf("%+v was freed; the next claim is %+v", h.Lease, next.Lease)
		}
		must(t, next.release(t.Context(), next.Start))
	}
}
