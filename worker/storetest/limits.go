package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

func skew(t *testing.T, s *suite) {
	store := s.Open(t)
	for _, apart := range []time.Duration{time.Hour, -time.Hour} {
		_, err := s.try(t, store, func(r *driver.Request) {
			r.MaxSkew = 10_000
			r.Now += apart.Milliseconds()
		})
		var skew *driver.SkewError
		if !errors.As(err, &skew) || skew.Max != 10*time.Second || (skew.Local.Sub(skew.Store)-apart).Abs() > time.Minute {
			t.Errorf("clocks %v apart: %v, want a SkewError with both clocks and a Max of 10s", apart, err)
		}
	}
	h := s.claim(t, store, nil)
	if h.From > time.Now().UnixMilli() {
		t.Errorf("a refused claim has left a fence: the next is %+v", h.Claim)
	}
}

// A lease whose clock has leapt claims the worker ID that it holds. The answer must say whether
// the clocks agree, so the store compares them before it looks for a free worker ID.
func clocksFirst(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, only(2))
	own := func(apart time.Duration) error {
		_, err := s.try(t, store, func(r *driver.Request) {
			only(h.Worker)(r)
			r.MaxSkew = 600_000
			r.Now += apart.Milliseconds()
		})
		return err
	}
	for _, apart := range []time.Duration{time.Hour, -time.Hour} {
		var skew *driver.SkewError
		if err := own(apart); !errors.As(err, &skew) {
			t.Errorf("clocks %v apart, and the worker ID is held: %v, want a SkewError", apart, err)
		}
	}
	var none *driver.NoWorkerIDError
	if err := own(0); !errors.As(err, &none) || none.WorkerIDs != 1 || none.Leased != 1 {
		t.Errorf("a claim of the worker ID that is held: %v, want a NoWorkerIDError with 1 leased of 1", err)
	}
	must(t, h.renew(t.Context(), h.Fence+1)) // it has not lost it
}

// The layout is also the version of a namespace: a build that keeps other records has another one.
func layouts(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, nil)
	_, err := s.try(t, s.Open(t), func(r *driver.Request) { r.Layout = "layout 2" })
	var layout *driver.LayoutError
	if !errors.As(err, &layout) || layout.Have != "layout 1" || layout.Want != "layout 2" || layout.Namespace != s.namespace {
		t.Errorf("a claim with another layout: %v, want a LayoutError with both layouts", err)
	}
	must(t, h.release(t.Context(), h.From))
	if _, err := s.try(t, store, func(r *driver.Request) { r.Layout = "LAYOUT 1" }); err == nil {
		t.Error("a namespace without holders accepted another layout")
	}
	s.claim(t, store, func(r *driver.Request) { r.Namespace += "2"; r.Layout = "layout 2" })
}

// Namespaces have nothing to do with each other, whatever their names.
func namespaces(t *testing.T, s *suite) {
	store := s.Open(t)
	long := s.namespace + strings.Repeat("x", 64-len(s.namespace))
	var held []*holder
	for i, name := range []string{s.namespace + "a", s.namespace + "A", s.namespace + "a/..", s.namespace + ":a", s.namespace + ".a_-", long} {
		layout := strings.Repeat("y", i+1)
		for range 2 {
			held = append(held, s.claim(t, store, func(r *driver.Request) { r.Namespace, r.Layout, r.WorkerIDs = name, layout, 2 }))
		}
		if _, err := s.try(t, store, func(r *driver.Request) { r.Namespace, r.Layout, r.WorkerIDs = name, layout, 2 }); !errors.Is(err, driver.ErrNoWorkerID) {
			t.Errorf("a third claim in namespace %q, which has 2 worker IDs: %v, want a NoWorkerIDError", name, err)
		}
	}
	for _, h := range held {
		must(t, h.release(t.Context(), h.From))
	}
}

// A worker ID that a fast clock has used comes last, and is not given while its fence is too
// far ahead.
func farAhead(t *testing.T, s *suite) {
	store := s.Open(t)
	now := time.Now().UnixMilli()
	at := func(workerIDs, now int64) func(r *driver.Request) {
		return func(r *driver.Request) { r.WorkerIDs, r.Now, r.MaxLead = workerIDs, now, 60_000 }
	}
	fast := s.claim(t, store, func(r *driver.Request) { at(4, now+3_000_000)(r); r.Preferred = 1 })
	must(t, fast.release(t.Context(), fast.Fence))
	near := s.claim(t, store, func(r *driver.Request) { at(4, now)(r); r.Preferred = 0 })
	must(t, near.release(t.Context(), near.Fence))
	for _, want := range []int64{2, 3, 0} { // those never held, then the one that is 30s ahead
		h := s.claim(t, store, func(r *driver.Request) { at(4, now)(r); r.Preferred = 1 })
		if want == 0 && (h.Worker != 0 || h.From != near.Fence) || want != 0 && h.Worker != 2 && h.Worker != 3 {
			t.Errorf("%+v, want worker ID %d (2 or 3 come first, then 0 from its fence, %d)", h.Claim, want, near.Fence)
		}
	}
	_, err := s.try(t, store, at(4, now))
	var none *driver.NoWorkerIDError
	if !errors.As(err, &none) || none.Ahead != 1 || none.Leased != 3 || none.Wait <= 0 {
		t.Errorf("a claim when 3 worker IDs are leased and 1 is too far ahead: %v, want a NoWorkerIDError that says so, with a Wait", err)
	}
	if h := s.claim(t, store, at(4, now+2_990_000)); h.Worker != 1 || h.From != fast.Fence {
		t.Errorf("%+v, want worker ID 1 from %d", h.Claim, fast.Fence)
	}
}

func forever(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, func(r *driver.Request) { r.WorkerIDs, r.TTL = 1, driver.NoTTL })
	_, err := s.try(t, s.Open(t), func(r *driver.Request) { r.WorkerIDs = 1 })
	var none *driver.NoWorkerIDError
	if !errors.As(err, &none) || none.Wait != 0 {
		t.Errorf("a claim when the only worker ID has no time to live: %v, want a NoWorkerIDError without a Wait", err)
	}
	must(t, h.store.Renew(t.Context(), driver.Renewal{Namespace: h.namespace, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.claimID, Fence: h.Fence + 1, TTL: driver.NoTTL}))
	must(t, h.release(t.Context(), h.From))
	s.claim(t, store, func(r *driver.Request) { r.WorkerIDs = 1 })
}

func badRequests(t *testing.T, s *suite) {
	store := s.Open(t)
	for what, change := range map[string]func(*driver.Request){
		"Namespace":        func(r *driver.Request) { r.Namespace = "" },
		"Namespace 1":      func(r *driver.Request) { r.Namespace = "a'; DROP TABLE snow_worker; --" },
		"Namespace 2":      func(r *driver.Request) { r.Namespace = "ä" },
		"Namespace 3":      func(r *driver.Request) { r.Namespace = strings.Repeat("x", 65) },
		"Namespace 4":      func(r *driver.Request) { r.Namespace = "a b" },
		"Namespace 5":      func(r *driver.Request) { r.Namespace = "a\x00" },
		"Layout":           func(r *driver.Request) { r.Layout = "" },
		"Layout 1":         func(r *driver.Request) { r.Layout = strings.Repeat("x", 256) },
		"WorkerIDs":        func(r *driver.Request) { r.WorkerIDs = 0 },
		"Preferred":        func(r *driver.Request) { r.Preferred = 4 },
		"RequirePreferred": func(r *driver.Request) { r.RequirePreferred = true },
		"ClaimID":          func(r *driver.Request) { r.ClaimID = "" },
		"Layout 2":         func(r *driver.Request) { r.Layout = "a\nb" },
		"ClaimID 1":        func(r *driver.Request) { r.ClaimID = "é" },
		"Owner 1":          func(r *driver.Request) { r.Owner = "\xff" },
		"Owner 2":          func(r *driver.Request) { r.Owner = "a\x00" },
		"Owner":            func(r *driver.Request) { r.Owner = strings.Repeat("x", 256) },
		"FenceWindow":      func(r *driver.Request) { r.FenceWindow = 0 },
		"TTL":              func(r *driver.Request) { r.TTL = -1 },
		"MaxSkew":          func(r *driver.Request) { r.MaxSkew = -1 },
		"MaxLead":          func(r *driver.Request) { r.MaxLead = -1 },
		"Now":              func(r *driver.Request) { r.Now = math.MaxInt64 },
	} {
		_, err := s.try(t, store, change)
		var config *core.ConfigError
		field, _, _ := strings.Cut(what, " ")
		if !errors.As(err, &config) || len(config.Fields) != 1 || config.Fields[0].Field != field {
			t.Errorf("a request with a wrong %s: %v, want a ConfigError for this field only", what, err)
		}
	}
	h := s.claim(t, store, func(r *driver.Request) { r.Owner = `'"\%_; DROP TABLE x` + "`" })
	if admin, ok := store.(driver.Admin); ok {
		if records, err := admin.List(t.Context(), s.namespace); err != nil || len(records) == 0 || !slices.ContainsFunc(records, func(rec driver.Record) bool {
			return rec.Worker == h.Worker && rec.Owner == `'"\%_; DROP TABLE x`+"`"
		}) {
			t.Errorf("List returned %+v, %v, want the owner of worker ID %d unchanged", records, err, h.Worker)
		}
	}
}

func doneContext(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Claim(ctx, s.request()); !errors.Is(err, context.Canceled) {
		t.Errorf("Claim: %v, want context.Canceled", err)
	}
	if err := h.renew(ctx, h.Fence+1); !errors.Is(err, context.Canceled) {
		t.Errorf("Renew: %v, want context.Canceled", err)
	}
	if err := h.release(ctx, h.From); !errors.Is(err, context.Canceled) {
		t.Errorf("Release: %v, want context.Canceled", err)
	}
	must(t, h.renew(t.Context(), h.Fence+1))
}

// No call outlasts its context, and its error says what was asked.
func hung(t *testing.T, s *suite) {
	if s.Hung == nil {
		return
	}
	store := s.Hung(t)
	h := &holder{Claim: driver.Claim{FencingToken: 1}, store: store, namespace: s.namespace, claimID: "claim-1"}
	calls := map[string]func(ctx context.Context) error{
		"Claim":   func(ctx context.Context) error { _, err := store.Claim(ctx, s.request()); return err },
		"Renew":   func(ctx context.Context) error { return h.renew(ctx, 1) },
		"Release": func(ctx context.Context) error { return h.release(ctx, 1) },
	}
	if admin, ok := store.(driver.Admin); ok {
		calls["List"] = func(ctx context.Context) error { _, err := admin.List(ctx, s.namespace); return err }
		calls["Free"] = func(ctx context.Context) error { return admin.Free(ctx, s.namespace, 0, 1) }
	}
	if counter, ok := store.(driver.Counter); ok {
		calls["Reserve"] = func(ctx context.Context) error { _, err := counter.Reserve(ctx, s.namespace, 1); return err }
	}
	if warner, ok := store.(interface {
		Warnings(ctx context.Context) ([]string, error)
	}); ok {
		calls["Warnings"] = func(ctx context.Context) error { _, err := warner.Warnings(ctx); return err }
	}
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
			if a.what == "Warnings" && a.err == nil {
				continue // a store may know them without its client
			}
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
	admin, ok := store.(driver.Admin)
	if !ok {
		return // it is not required
	}
	ctx := t.Context()
	if records, err := admin.List(ctx, s.namespace); err != nil || len(records) > 0 {
		t.Errorf("List returned %v, %v before the first claim", records, err)
	}
	h := s.claim(t, store, func(r *driver.Request) { r.Preferred, r.TTL = 2, driver.NoTTL })
	records, err := admin.List(ctx, s.namespace)
	records = slices.DeleteFunc(records, func(r driver.Record) bool { return r.FencingToken == 0 }) // prepared, never held
	if err != nil || len(records) != 1 {
		t.Fatalf("List returned %+v, %v, want one record", records, err)
	}
	if rec := records[0]; rec.Worker != 2 || rec.FencingToken != h.FencingToken || rec.ClaimID == "" || rec.Owner != "storetest" || rec.Fence != h.Fence || rec.Free(time.Now().UnixMilli()) {
		t.Errorf("List returned %+v for %+v", rec, h.Claim)
	}
	mustNotHeld(t, "freed under another fencing token", admin.Free(ctx, s.namespace, 2, h.FencingToken+1))
	mustNotHeld(t, "a worker ID never held", admin.Free(ctx, s.namespace, 3, 0))
	must(t, h.renew(ctx, h.Fence+1))
	must(t, admin.Free(ctx, s.namespace, 2, h.FencingToken))
	mustNotHeld(t, "freed twice", admin.Free(ctx, s.namespace, 2, h.FencingToken))
	mustNotHeld(t, "renewed after it was freed", h.renew(ctx, h.Fence+1))
	next := s.claim(t, store, only(2))
	if next.From != h.Fence+1 {
		t.Errorf("the fence was %d, the next begins at %d", h.Fence+1, next.From)
	}
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
