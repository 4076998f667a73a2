package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func firstClaim(t *testing.T, s *suite) {
	now := time.Now().UnixMilli()
	h := s.claim(t, s.Open(t), func(r *driver.Request) { r.Now = now })
	if h.From != now || h.Fence != now+window || h.FencingToken != 1 {
		t.Errorf("the first claim is %+v, want fencing token 1, from %d", h.Claim, now)
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
	if none != nil && (none.Wait <= 0 || none.Wait > 2*ttl*time.Millisecond) {
		t.Errorf("the error says that the next may be free in %v", none.Wait)
	}
}

func preferred(t *testing.T, s *suite) {
	store := s.Open(t)
	for _, n := range []int64{2, 0} {
		if h := s.claim(t, store, func(r *driver.Request) { r.Preferred = n }); h.Worker != n {
			t.Errorf("worker ID %d was free and preferred, and %d was given", n, h.Worker)
		}
	}
	third := s.claim(t, store, func(r *driver.Request) { r.Preferred = 2 })
	if third.Worker == 2 || third.Worker == 0 {
		t.Errorf("worker ID %d was given twice", third.Worker)
	}
	if _, err := s.try(t, store, only(2)); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("a claim that requires a worker ID that is held: %v, want ErrNoWorkerID", err)
	}
	last := 4 - third.Worker // 1 and 3 were left
	if _, err := s.try(t, store, func(r *driver.Request) { r.Exclude = last }); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("a claim that excludes the last free worker ID: %v, want ErrNoWorkerID", err)
	}
	must(t, third.release(t.Context(), third.From))
	if h := s.claim(t, store, only(third.Worker)); h.Worker != third.Worker {
		t.Errorf("worker ID %d was required, and %d was given", third.Worker, h.Worker)
	}
}

func renew(t *testing.T, s *suite) {
	h := s.claim(t, s.Open(t), nil)
	ctx := t.Context()
	must(t, h.renew(ctx, h.Fence+1000))
	must(t, h.renew(ctx, h.Fence+1000)) // delivered twice
	must(t, h.renew(ctx, h.Fence+500))  // overtaken by the one before
	must(t, h.renew(ctx, h.Fence))
	s.expire(t, h)
	next := s.await(t, s.Open(t), func(r *driver.Request) { only(h.Worker)(r); r.Now = h.From })
	if next.From != h.Fence+1000 {
		t.Errorf("the next holder begins at %d, the fence was %d", next.From, h.Fence+1000)
	}
}

// neither is a worker ID of the four that is not one of these two.
func neither(a, b int64) (n int64) {
	for n == a || n == b {
		n++
	}
	return n
}

func renewGuarded(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	h, other := s.claim(t, store, nil), s.claim(t, store, nil)
	far := h.Fence + 1_000_000
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
		mustNotHeld(t, what, wrong.renew(ctx, far))
	}
	must(t, h.release(ctx, h.From))
	mustNotHeld(t, "renewed after release", h.renew(ctx, far))
	next := s.claim(t, store, only(h.Worker))
	mustNotHeld(t, "renewed after another's claim", h.renew(ctx, far))
	must(t, next.release(ctx, next.From))
	if last := s.claim(t, store, only(h.Worker)); last.From >= far {
		t.Errorf("a renewal that was not held raised the fence to %d", last.From)
	}
	must(t, other.renew(ctx, other.Fence+1)) // it is unharmed
}

func release(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	h := s.claim(t, store, nil)
	must(t, h.renew(ctx, h.Fence+5000))
	must(t, h.release(ctx, h.From+700))
	next := s.claim(t, store, func(r *driver.Request) { only(h.Worker)(r); r.Now = h.From })
	if next.From != h.From+700 || next.FencingToken <= h.FencingToken {
		t.Errorf("released with fence %d and fencing token %d; the next claim is %+v", h.From+700, h.FencingToken, next.Claim)
	}
}

func releaseGuarded(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	h, other := s.claim(t, store, nil), s.claim(t, store, nil)
	for what, change := range map[string]func(*holder){
		"another claim ID":         func(h *holder) { h.claimID = other.claimID },
		"no claim ID":              func(h *holder) { h.claimID = "" },
		"the fencing token before": func(h *holder) { h.FencingToken-- },
		"another's worker ID":      func(h *holder) { h.Worker = other.Worker },
		"a worker ID never held":   func(h *holder) { h.Worker = neither(h.Worker, other.Worker) },
		"another namespace":        func(h *holder) { h.namespace += "x" },
	} {
		wrong := *h
		change(&wrong)
		mustNotHeld(t, what, wrong.release(ctx, h.From))
	}
	must(t, h.renew(ctx, h.Fence+1)) // it is still held
	must(t, h.release(ctx, h.From+10))
	mustNotHeld(t, "released twice", h.release(ctx, 0))
	next := s.claim(t, store, func(r *driver.Request) { only(h.Worker)(r); r.Now = h.From })
	mustNotHeld(t, "released after another's claim", h.release(ctx, 0))
	if next.From != h.From+10 {
		t.Errorf("the next claim begins at %d, want %d", next.From, h.From+10)
	}
	must(t, next.renew(ctx, next.Fence+1))
}

func takeover(t *testing.T, s *suite) {
	h := s.claim(t, s.Open(t), nil)
	other := s.Open(t)
	if _, err := s.try(t, other, only(h.Worker)); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Fatalf("a claim of a worker ID that is held: %v, want ErrNoWorkerID", err)
	}
	s.expire(t, h)
	next := s.await(t, other, func(r *driver.Request) { only(h.Worker)(r); r.Now = h.From - 60_000 })
	if next.From != h.Fence || next.FencingToken <= h.FencingToken {
		t.Errorf("the fence was %d and the fencing token %d; the next claim is %+v", h.Fence, h.FencingToken, next.Claim)
	}
	mustNotHeld(t, "renewed after the takeover", h.renew(t.Context(), h.Fence+9999))
	mustNotHeld(t, "released after the takeover", h.release(t.Context(), h.From))
	must(t, next.renew(t.Context(), next.Fence+1))
	// A claim that has expired may be renewed, as long as there is no other.
	s.expire(t, next)
	must(t, next.renew(t.Context(), next.Fence+2))
}

// Clocks behind and ahead of each other: what counts is the fence.
func clocksBehind(t *testing.T, s *suite) {
	store := s.Open(t)
	now := time.Now().UnixMilli()
	bound := now
	for i, step := range []int64{0, -1, -1_000_000, 5, 20_000, -2_000_000} {
		h := s.claim(t, store, func(r *driver.Request) { only(1)(r); r.Now = now + step })
		if want := max(bound, now+step); h.From != want {
			t.Errorf("claim %d begins at %d, want %d", i, h.From, want)
		}
		bound = h.From + 100
		must(t, h.release(t.Context(), bound))
	}
}

// A claim whose answer was lost is repeated with the same claim ID.
func repeated(t *testing.T, s *suite) {
	store := s.Open(t)
	r := s.request()
	first, err := store.Claim(t.Context(), r)
	must(t, err)
	r.Now += 7 // as time goes on
	again, err := store.Claim(t.Context(), r)
	must(t, err)
	if again != first {
		t.Errorf("the claim was %+v, and repeated %+v: want the same", first, again)
	}
	h := &holder{Claim: first, store: store, namespace: r.Namespace, claimID: r.ClaimID}
	must(t, h.renew(t.Context(), h.Fence+5))
	if late, err := store.Claim(t.Context(), r); err != nil || late.Worker != first.Worker || late.FencingToken != first.FencingToken || late.Fence != first.Fence+5 {
		t.Errorf("the claim repeated after a renewal: %+v, %v, want the same worker ID and fencing token, and the raised fence", late, err)
	}
	must(t, h.renew(t.Context(), h.Fence+6)) // it did no harm
	for range 3 {
		s.claim(t, store, nil) // and took no second worker ID
	}
}

// A claim ID has one worker ID, whatever else the request that repeats it asks for: otherwise a
// lease would hold a worker ID that it does not know of.
func repeatedOtherwise(t *testing.T, s *suite) {
	store := s.Open(t)
	r := s.request()
	first, err := store.Claim(t.Context(), r)
	must(t, err)
	for what, change := range map[string]func(*driver.Request){
		"RequirePreferred":               func(r *driver.Request) { only((first.Worker + 1) % r.WorkerIDs)(r) },
		"Exclude":                        func(r *driver.Request) { r.Exclude = first.Worker },
		"Exclude, and MaxLead 0, behind": func(r *driver.Request) { r.Exclude, r.MaxLead, r.Now = first.Worker, 0, r.Now-60_000 },
		"nothing":                        func(*driver.Request) {},
	} {
		other := r
		change(&other)
		if again, err := store.Claim(t.Context(), other); err != nil || again != first {
			t.Errorf("the claim was %+v, and repeated with a change of %s: %+v, %v, want the same", first, what, again, err)
		}
	}
	for range 3 {
		s.claim(t, store, nil) // it took no second worker ID
	}
}
