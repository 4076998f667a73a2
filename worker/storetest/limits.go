package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
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
			t.Errorf("%v apart: %v", apart, err)
		}
	}
	h := s.claim(t, store, nil)
	if h.From > time.Now().UnixMilli() {
		t.Errorf("what was refused has left a bound: %+v", h.Claim)
	}
}

// A lease whose clock has leapt claims the number that it holds. The answer must say whether
// the clocks agree, so the store compares them before it looks for a free number.
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
			t.Errorf("%v apart, and the number is held: %v, want a SkewError", apart, err)
		}
	}
	var none *driver.NoWorkerIDError
	if err := own(0); !errors.As(err, &none) || none.WorkerIDs != 1 || none.Leased != 1 {
		t.Errorf("the number that it holds itself: %v, want a NoWorkerIDError", err)
	}
	must(t, h.renew(t.Context(), h.Fence+1)) // it has not lost it
}

func layouts(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, nil)
	_, err := s.try(t, s.Open(t), func(r *driver.Request) { r.Layout = "layout 2" })
	var layout *driver.LayoutError
	if !errors.As(err, &layout) || layout.Have != "layout 1" || layout.Want != "layout 2" || layout.Namespace != s.space {
		t.Errorf("%v", err)
	}
	must(t, h.release(t.Context(), h.From))
	if _, err := s.try(t, store, func(r *driver.Request) { r.Layout = "LAYOUT 1" }); err == nil {
		t.Error("a space without holders took another layout")
	}
	s.claim(t, store, func(r *driver.Request) { r.Namespace += "2"; r.Layout = "layout 2" })
}

// Spaces have nothing to do with each other, whatever their names.
func spaces(t *testing.T, s *suite) {
	store := s.Open(t)
	long := s.space + strings.Repeat("x", 64-len(s.space))
	var held []*holder
	for i, name := range []string{s.space + "a", s.space + "A", s.space + "a/..", s.space + ":a", s.space + ".a_-", long} {
		layout := strings.Repeat("y", i+1)
		for range 2 {
			held = append(held, s.claim(t, store, func(r *driver.Request) { r.Namespace, r.Layout, r.WorkerIDs = name, layout, 2 }))
		}
		if _, err := s.try(t, store, func(r *driver.Request) { r.Namespace, r.Layout, r.WorkerIDs = name, layout, 2 }); !errors.Is(err, driver.ErrNoWorkerID) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, h := range held {
		must(t, h.release(t.Context(), h.From))
	}
}

// A number that a fast clock has used is left for last, and not given at all
// when it lies too far ahead.
func farAhead(t *testing.T, s *suite) {
	store := s.Open(t)
	now := time.Now().UnixMilli()
	at := func(numbers, now int64) func(r *driver.Request) {
		return func(r *driver.Request) { r.WorkerIDs, r.Now, r.MaxLead = numbers, now, 60_000 }
	}
	fast := s.claim(t, store, func(r *driver.Request) { at(4, now+3_000_000)(r); r.Preferred = 1 })
	must(t, fast.release(t.Context(), fast.Fence))
	near := s.claim(t, store, func(r *driver.Request) { at(4, now)(r); r.Preferred = 0 })
	must(t, near.release(t.Context(), near.Fence))
	for _, want := range []int64{2, 3, 0} { // those never held, then the one that is 30s ahead
		h := s.claim(t, store, func(r *driver.Request) { at(4, now)(r); r.Preferred = 1 })
		if want == 0 && (h.Worker != 0 || h.From != near.Fence) || want != 0 && h.Worker != 2 && h.Worker != 3 {
			t.Errorf("%+v, want number %d", h.Claim, want)
		}
	}
	_, err := s.try(t, store, at(4, now))
	var none *driver.NoWorkerIDError
	if !errors.As(err, &none) || none.Ahead != 1 || none.Leased != 3 || none.Wait <= 0 {
		t.Errorf("%v", err)
	}
	if h := s.claim(t, store, at(4, now+2_990_000)); h.Worker != 1 || h.From != fast.Fence {
		t.Errorf("%+v, want number 1 from %d", h.Claim, fast.Fence)
	}
}

func forever(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, func(r *driver.Request) { r.WorkerIDs, r.TTL = 1, driver.NoTTL })
	_, err := s.try(t, s.Open(t), func(r *driver.Request) { r.WorkerIDs = 1 })
	var none *driver.NoWorkerIDError
	if !errors.As(err, &none) || none.Wait != 0 {
		t.Errorf("%v", err)
	}
	must(t, h.store.Renew(t.Context(), driver.Renewal{Namespace: h.space, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.token, Fence: h.Fence + 1, TTL: driver.NoTTL}))
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
			t.Errorf("%s: %v", what, err)
		}
	}
	h := s.claim(t, store, func(r *driver.Request) { r.Owner = `'"\%_; DROP TABLE x` + "`" })
	if admin, ok := store.(driver.Admin); ok {
		if rows, err := admin.List(t.Context(), s.space); err != nil || len(rows) == 0 || !slices.ContainsFunc(rows, func(row driver.Record) bool {
			return row.Worker == h.Worker && row.Owner == `'"\%_; DROP TABLE x`+"`"
		}) {
			t.Errorf("%+v, %v", rows, err)
		}
	}
}

func doneContext(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Claim(ctx, s.request()); !errors.Is(err, context.Canceled) {
		t.Errorf("Claim: %v", err)
	}
	if err := h.renew(ctx, h.Fence+1); !errors.Is(err, context.Canceled) {
		t.Errorf("Renew: %v", err)
	}
	if err := h.release(ctx, h.From); !errors.Is(err, context.Canceled) {
		t.Errorf("Release: %v", err)
	}
	must(t, h.renew(t.Context(), h.Fence+1))
}

// No call outlasts its context, and its error says what was asked.
func hung(t *testing.T, s *suite) {
	if s.Hung == nil {
		return
	}
	store := s.Hung(t)
	h := &holder{Claim: driver.Claim{FencingToken: 1}, store: store, space: s.space, token: "token"}
	calls := map[string]func(ctx context.Context) error{
		"Claim":         func(ctx context.Context) error { _, err := store.Claim(ctx, s.request()); return err },
		"RenewInterval": func(ctx context.Context) error { return h.renew(ctx, 1) },
		"Release":       func(ctx context.Context) error { return h.release(ctx, 1) },
	}
	if admin, ok := store.(driver.Admin); ok {
		calls["List"] = func(ctx context.Context) error { _, err := admin.List(ctx, s.space); return err }
		calls["Free"] = func(ctx context.Context) error { return admin.Free(ctx, s.space, 0, 1) }
	}
	if counter, ok := store.(driver.Counter); ok {
		calls["Count"] = func(ctx context.Context) error { _, err := counter.Count(ctx, s.space); return err }
	}
	if counter, ok := store.(interface {
		Reserve(ctx context.Context, key string, n int64) (int64, error)
	}); ok {
		calls["Reserve"] = func(ctx context.Context) error { _, err := counter.Reserve(ctx, s.space, 1); return err }
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
			if !errors.Is(a.err, context.DeadlineExceeded) || a.err.Error() == context.DeadlineExceeded.Error() {
				t.Errorf("%s: %v, want what was asked, and that its time is over", a.what, a.err)
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
	if rows, err := admin.List(ctx, s.space); err != nil || len(rows) > 0 {
		t.Errorf("nobody was here yet: %v, %v", rows, err)
	}
	h := s.claim(t, store, func(r *driver.Request) { r.Preferred, r.TTL = 2, driver.NoTTL })
	rows, err := admin.List(ctx, s.space)
	rows = slices.DeleteFunc(rows, func(r driver.Record) bool { return r.FencingToken == 0 }) // prepared, never held
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	if row := rows[0]; row.Worker != 2 || row.FencingToken != h.FencingToken || row.ClaimID == "" || row.Owner != "storetest" || row.Fence != h.Fence || row.Free(time.Now().UnixMilli()) {
		t.Errorf("%+v for %+v", row, h.Claim)
	}
	mustTaken(t, "freed under another epoch", admin.Free(ctx, s.space, 2, h.FencingToken+1))
	mustTaken(t, "a number never held", admin.Free(ctx, s.space, 3, 0))
	must(t, h.renew(ctx, h.Fence+1))
	must(t, admin.Free(ctx, s.space, 2, h.FencingToken))
	mustTaken(t, "freed twice", admin.Free(ctx, s.space, 2, h.FencingToken))
	mustTaken(t, "renewed after it was freed", h.renew(ctx, h.Fence+1))
	next := s.claim(t, store, only(2))
	if next.From != h.Fence+1 {
		t.Errorf("the bound was %d, the next begins at %d", h.Fence+1, next.From)
	}
}
