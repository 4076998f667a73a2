package storetest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func skew(t *testing.T, s *suite) {
	store := s.Open(t)
	for _, named := range []bool{false, true} { // a claim that names no MaxSkew has that of the namespace
		for _, apart := range []time.Duration{time.Hour, -time.Hour} {
			_, err := s.try(t, store, func(c *driver.Claim) {
				c.Now += apart.Milliseconds()
				if !named {
					c.MaxSkew = 0
				}
			})
			var skew *driver.SkewError
			if !errors.As(err, &skew) || skew.Max != spread*time.Millisecond || (skew.Local.Sub(skew.Store)-apart).Abs() > time.Minute {
				t.Errorf("clocks %v apart: %v, want a SkewError with both clocks and a Max of 10s", apart, err)
			}
		}
		if st := s.list(t); named == st.Missing {
			t.Errorf("after refused claims, List returned %+v", st)
		}
		s.claim(t, store, nil)
	}
}

// A lease whose clock has leapt claims the worker ID that it holds. The answer must say whether
// the clocks agree, so the store compares them before it looks for a free worker ID.
func clocksFirst(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, only(2))
	own := func(apart time.Duration) error {
		_, err := s.try(t, store, func(c *driver.Claim) { only(h.Worker)(c); c.Now += apart.Milliseconds() })
		return err
	}
	for _, apart := range []time.Duration{time.Hour, -time.Hour} {
		if err := own(apart); !errors.As(err, new(*driver.SkewError)) {
			t.Errorf("clocks %v apart, and the worker ID is held: %v, want a SkewError", apart, err)
		}
	}
	var none *driver.NoWorkerIDError
	if err := own(0); !errors.As(err, &none) || none.WorkerIDs != 1 || none.Leased != 1 {
		t.Errorf("a claim of the worker ID that is held: %v, want a NoWorkerIDError with 1 leased of 1", err)
	}
	must(t, h.renew(t.Context())) // it has not lost it
}

// A namespace has the layout of its first claim.
func layouts(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, nil)
	_, err := s.try(t, s.Open(t), func(c *driver.Claim) { c.Layout = "layout 2" })
	var layout *driver.LayoutError
	if !errors.As(err, &layout) || layout.Have != "layout 1" || layout.Want != "layout 2" || layout.Namespace != s.namespace {
		t.Errorf("a claim with another layout: %v, want a LayoutError with both layouts", err)
	}
	must(t, h.release(t.Context(), h.Start))
	if _, err := s.try(t, store, func(c *driver.Claim) { c.Layout = "LAYOUT 1" }); err == nil {
		t.Error("a namespace without holders accepted another layout")
	}
	s.claim(t, store, func(c *driver.Claim) { c.Namespace += "2"; c.Layout = "layout 2" })
}

// A namespace has the FenceWindow and the MaxSkew of its first claim.
func windows(t *testing.T, s *suite) {
	store := s.Open(t)
	s.claim(t, store, nil)
	for what, change := range map[string]func(*driver.Claim){
		"a larger FenceWindow":  func(c *driver.Claim) { c.FenceWindow++ },
		"a smaller FenceWindow": func(c *driver.Claim) { c.FenceWindow-- },
		"a larger MaxSkew":      func(c *driver.Claim) { c.MaxSkew++ },
		"a smaller MaxSkew":     func(c *driver.Claim) { c.MaxSkew-- },
	} {
		want := s.request()
		change(&want)
		_, err := s.try(t, store, change)
		var wrong *driver.WindowError
		if !errors.As(err, &wrong) || *wrong != (driver.WindowError{Namespace: s.namespace, HaveWindow: window, WantWindow: want.FenceWindow, HaveSkew: spread, WantSkew: want.MaxSkew}) {
			t.Errorf("a claim with %s: %v, want a WindowError with all values", what, err)
		}
	}
	s.claim(t, store, func(c *driver.Claim) { c.MaxSkew = 0 }) // a third of FenceWindow
}

// Namespaces have nothing to do with each other, whatever their names.
func namespaces(t *testing.T, s *suite) {
	store := s.Open(t)
	long := s.namespace + strings.Repeat("x", 64-len(s.namespace))
	var held []*holder
	for i, name := range []string{s.namespace + "a", s.namespace + "A", s.namespace + "a/..", s.namespace + ":a", s.namespace + ".a_-", long} {
		change := func(c *driver.Claim) { c.Namespace, c.Layout, c.WorkerIDs = name, strings.Repeat("y", i+1), 2 }
		for range 2 {
			held = append(held, s.claim(t, store, change))
		}
		if _, err := s.try(t, store, change); !errors.Is(err, driver.ErrNoWorkerID) {
			t.Errorf("a third claim in namespace %q, which has 2 worker IDs: %v, want a NoWorkerIDError", name, err)
		}
	}
	for _, h := range held {
		must(t, h.release(t.Context(), h.Start))
	}
}

// A worker ID that a fast clock has used is not given while its fence is too far ahead, and one
// that starts ahead of the clock comes after those that do not.
func farAhead(t *testing.T, s *suite) {
	store := s.Open(t)
	far, near := s.claim(t, store, only(1)), s.claim(t, store, only(0))
	must(t, far.release(t.Context(), far.Fence))
	must(t, near.release(t.Context(), near.Fence))
	s.pass(t, 2*step, far, near)
	st := s.list(t)
	now := clock()
	st.Records[0].Fence, st.Records[1].Fence = now+window/2, now+3_000_000
	for id := range int64(2) {
		st.Records = append(st.Records, driver.Record{Worker: id + 2, Status: driver.Unused})
	}
	st.Namespace.Seen = 4
	s.Put(t, st)
	for _, want := range []int64{2, 3, 0} { // those never held, in any order, then the one that is 15 s ahead
		h := s.claim(t, store, nil)
		if want == 0 && (h.Worker != 0 || h.Start != now+window/2) || want != 0 && h.Worker != 2 && h.Worker != 3 {
			t.Errorf("%+v, want worker ID %d (2 or 3 come first, then 0 from its fence, %d)", h.Lease, want, now+window/2)
		}
	}
	_, err := s.try(t, store, nil)
	var none *driver.NoWorkerIDError
	if !errors.As(err, &none) || none.Ahead != 1 || none.Leased != 3 || none.Wait <= 0 {
		t.Errorf("a claim when 3 worker IDs are leased and 1 is too far ahead: %v, want a NoWorkerIDError that says so, with a Wait", err)
	}
	s.pass(t, 2_990_000)
	if h := s.claim(t, store, only(1)); h.Start < now+10_000 || h.Start > now+10_000+slack {
		t.Errorf("%+v, want worker ID 1 from its fence, %d", h.Lease, now+10_000)
	}
}

func badClaims(t *testing.T, s *suite) {
	store := s.Open(t)
	for what, change := range map[string]func(*driver.Claim){
		"Namespace":        func(c *driver.Claim) { c.Namespace = "" },
		"Namespace 1":      func(c *driver.Claim) { c.Namespace = "a'; DROP TABLE snow_lease; --" },
		"Namespace 2":      func(c *driver.Claim) { c.Namespace = "ä" },
		"Namespace 3":      func(c *driver.Claim) { c.Namespace = strings.Repeat("x", 65) },
		"Namespace 4":      func(c *driver.Claim) { c.Namespace = "a b" },
		"Namespace 5":      func(c *driver.Claim) { c.Namespace = "a\x00" },
		"Layout":           func(c *driver.Claim) { c.Layout = "" },
		"Layout 1":         func(c *driver.Claim) { c.Layout = strings.Repeat("x", 256) },
		"WorkerIDs":        func(c *driver.Claim) { c.WorkerIDs = 0 },
		"Preferred":        func(c *driver.Claim) { c.Preferred = 4 },
		"RequirePreferred": func(c *driver.Claim) { c.RequirePreferred = true },
		"ClaimID":          func(c *driver.Claim) { c.ClaimID = "" },
		"Layout 2":         func(c *driver.Claim) { c.Layout = "a\nb" },
		"ClaimID 1":        func(c *driver.Claim) { c.ClaimID = "é" },
		"Owner 1":          func(c *driver.Claim) { c.Owner = "\xff" },
		"Owner 2":          func(c *driver.Claim) { c.Owner = "a\x00" },
		"Owner":            func(c *driver.Claim) { c.Owner = strings.Repeat("x", 256) },
		"FenceWindow":      func(c *driver.Claim) { c.FenceWindow, c.MaxSkew = 0, 0 },
		"MaxSkew":          func(c *driver.Claim) { c.MaxSkew = -1 },
		"Now":              func(c *driver.Claim) { c.Now = math.MaxInt64 },
	} {
		_, err := s.try(t, store, change)
		var config *core.ConfigError
		field, _, _ := strings.Cut(what, " ")
		if !errors.As(err, &config) || len(config.Fields) != 1 || config.Fields[0].Field != field {
			t.Errorf("a claim with a wrong %s: %v, want a ConfigError for this field only", what, err)
		}
	}
	const owner = `'"\%_; DROP TABLE x` + "`"
	h := s.claim(t, store, func(c *driver.Claim) { c.Owner = owner })
	if records := s.list(t).Records; len(records) != 1 || records[0].Worker != h.Worker || records[0].Owner != owner {
		t.Errorf("List returned %+v, want the owner %s of worker ID %d", records, owner, h.Worker)
	}
}

func doneContext(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, call := range s.calls(store, h) {
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", what, err)
		}
	}
	must(t, h.renew(t.Context()))
}

// calls has a call of each method of the store.
func (s *suite) calls(store driver.Store, h *holder) map[string]func(ctx context.Context) error {
	admin := store.(driver.Admin)
	calls := map[string]func(ctx context.Context) error{
		"Claim":   func(ctx context.Context) error { _, err := store.Claim(ctx, s.request()); return err },
		"Renew":   h.renew,
		"Release": func(ctx context.Context) error { return h.release(ctx, 1) },
		"List":    func(ctx context.Context) error { _, err := admin.List(ctx, s.namespace); return err },
		"Free":    func(ctx context.Context) error { return admin.Free(ctx, s.namespace, h.Worker, h.FencingToken) },
		"Raise":   func(ctx context.Context) error { _, err := admin.Raise(ctx, s.namespace, 0); return err },
	}
	if counter, ok := store.(driver.Counter); ok {
		calls["Reserve"] = func(ctx context.Context) error {
			_, err := counter.Reserve(ctx, s.namespace, 1)
			if errors.Is(err, errors.ErrUnsupported) {
				<-ctx.Done()
				return errors.Join(err, ctx.Err())
			}
			return err
		}
	}
	return calls
}

// No call outlasts its context, and its error says what was asked.
func hung(t *testing.T, s *suite) {
	if s.Hung == nil {
		return
	}
	store := s.Hung(t)
	calls := s.calls(store, &holder{Lease: driver.Lease{FencingToken: 1}, store: store, namespace: s.namespace, claimID: "claim-1"})
	type answer struct {
		what string
		err  error
	}
	answers := make(chan answer, len(calls))
	for what, call := range calls {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			answers <- answer{what, call(ctx)}
		}()
	}
	limit := time.After(patience)
	for range calls {
		select {
		case a := <-answers:
			if !errors.Is(a.err, context.DeadlineExceeded) || a.err.Error() == context.DeadlineExceeded.Error() {
				t.Errorf("%s: %v, want context.DeadlineExceeded with a text before it", a.what, a.err)
			}
		case <-limit:
			t.Fatal("a call has not returned")
		}
	}
}

func operators(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	admin := store.(driver.Admin)
	mustNotHeld(t, "freed in a namespace that is missing", admin.Free(ctx, s.namespace, 2, 1))
	h := s.claim(t, store, func(c *driver.Claim) { c.Preferred = 2 })
	s.claim(t, store, func(c *driver.Claim) { c.Preferred = 1 })
	if st := s.list(t); len(st.Records) != 2 || st.Records[0].Worker != 1 || st.Records[1].Worker != 2 || !st.Records[1].IsHeld(st.Now, spread) {
		t.Errorf("List returned %+v, want the records of the worker IDs 1 and 2, which are held", st.Records)
	}
	mustAbout(t, "List's clock", s.list(t).Now, clock())
	mustNotHeld(t, "freed under another fencing token", admin.Free(ctx, s.namespace, 2, h.FencingToken+1))
	mustNotHeld(t, "a worker ID never held", admin.Free(ctx, s.namespace, 3, 0))
	must(t, h.renew(ctx))
	must(t, admin.Free(ctx, s.namespace, 2, h.FencingToken))
	mustNotHeld(t, "freed twice", admin.Free(ctx, s.namespace, 2, h.FencingToken))
	mustNotHeld(t, "renewed after it was freed", h.renew(ctx))
	if rec := s.list(t).Records[1]; rec.Status != driver.Freed || rec.Fence != h.Fence || rec.ClaimID != h.claimID {
		t.Errorf("%+v was freed, and is listed as %+v", h.Lease, rec)
	}
}

// An operator raises the floor above all fences, and the largest window; holders notice nothing.
func raise(t *testing.T, s *suite) {
	store := s.Open(t)
	ctx := t.Context()
	admin := store.(driver.Admin)
	if ns, err := admin.Raise(ctx, s.namespace, 0); err == nil {
		t.Errorf("the floor of a namespace that is missing was raised: %+v", ns)
	}
	h := s.claim(t, store, nil)
	was := s.list(t).Namespace
	for _, fenceWindow := range []int64{-1, math.MaxInt64} {
		if ns, err := admin.Raise(ctx, s.namespace, fenceWindow); !errors.As(err, new(*core.ConfigError)) {
			t.Errorf("Raise with a window of %d returned %+v, %v, want a ConfigError", fenceWindow, ns, err)
		}
	}
	ns, err := admin.Raise(ctx, s.namespace, 0)
	must(t, err)
	mustAbout(t, "the floor", ns.Floor, max(clock(), was.Floor, h.Fence)+step)
	listed := s.list(t).Namespace
	listed.Seen = ns.Seen // see list
	if ns != listed {
		t.Errorf("Raise returned %+v, List %+v", ns, listed)
	}
	next := s.claim(t, store, nil)
	if next.Start != ns.Floor || next.FloorRaised {
		t.Errorf("the floor is %d, and the next claim %+v", ns.Floor, next.Lease)
	}
	must(t, h.renew(ctx))
	wide, err := admin.Raise(ctx, s.namespace, 2*window)
	must(t, err)
	if wide.FenceWindow != 2*window || wide.MaxSkew != 2*spread || wide.Floor < ns.Floor+2*step {
		t.Errorf("%+v became %+v when the window was raised to %d", ns, wide, 2*window)
	}
	s.claim(t, store, func(c *driver.Claim) { c.FenceWindow, c.MaxSkew = 2*window, 0 })
	must(t, h.renew(ctx))
}

// Each number is given once, and none from 1 on is left out, whichever client asks; keys that
// differ in case are different counters.
func counters(t *testing.T, s *suite) {
	first, ok := s.Open(t).(driver.Counter)
	if !ok {
		return // it is not required
	}
	number, err := first.Reserve(t.Context(), strings.ToUpper(s.namespace), 1)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if number != 1 || err != nil {
		t.Errorf("a counter begins with %d, %v", number, err)
	}
	const clients, each = 4, 8
	numbers := make(chan int64, clients*each*each)
	var wg sync.WaitGroup
	for range clients {
		counter := s.Open(t).(driver.Counter)
		wg.Go(func() {
			for n := range int64(each) {
				first, err := counter.Reserve(t.Context(), s.namespace, n+1)
				if err != nil {
					t.Error(err)
				}
				for i := range n + 1 {
					numbers <- first + i
				}
			}
		})
	}
	wg.Wait()
	close(numbers)
	seen, all := map[int64]bool{}, int64(len(numbers))
	for number := range numbers {
		if seen[number] || number < 1 || number > all {
			t.Errorf("Reserve gave %d, want each of 1 to %d once", number, all)
		}
		seen[number] = true
	}
	for _, bad := range []struct {
		key string
		n   int64
	}{{s.namespace, 0}, {s.namespace, -1}, {s.namespace, math.MaxInt64}, {"", 1}, {"a b", 1}} {
		var config *core.ConfigError
		if first, err := first.Reserve(t.Context(), bad.key, bad.n); !errors.As(err, &config) || first != 0 {
			t.Errorf("Reserve(%q, %d) returned %d, %v, want a ConfigError", bad.key, bad.n, first, err)
		}
	}
	if first, err := first.Reserve(t.Context(), s.namespace, math.MaxInt64>>24); err != nil || first != all+1 {
		t.Errorf("Reserve returned %d, %v, want %d", first, err, all+1)
	}
}
