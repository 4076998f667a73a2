// Package storetest holds the suite that every lease store passes: this module's
// and yours.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Harness{Open: func(t *testing.T) worker.Store { … }})
//	}
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Harness says how the store under test is reached.
type Harness struct {
	// Open gives a client of the store, as another process would have one; all
	// clients of one Run see the same numbers. What it needs to close it registers
	// with t.Cleanup. The suite uses spaces with names of its own.
	Open func(t *testing.T) driver.Store
	// Crash ends a client as the end of its process would. nil: its numbers come
	// free by their time to live alone.
	Crash func(t *testing.T, s driver.Store)
	// Hung returns a store whose client gets no answer and ignores its contexts. nil: there
	// is no such client.
	Hung func(t *testing.T) driver.Store
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, s *suite)
	}{
		{"first claim", firstClaim},
		{"numbers differ and run out", runOut},
		{"preferred number", preferred},
		{"renew raises and never lowers", renew},
		{"renew needs epoch and token", renewGuarded},
		{"release gives the rest back", release},
		{"release needs epoch and token", releaseGuarded},
		{"takeover begins at the bound", takeover},
		{"a released number is begun where it was left", clocksBehind},
		{"claim repeated", repeated},
		{"clocks apart", skew},
		{"clocks before numbers", clocksFirst},
		{"layouts", layouts},
		{"spaces", spaces},
		{"bounds far ahead", farAhead},
		{"no time to live", forever},
		{"bad requests", badRequests},
		{"done context", doneContext},
		{"client that hangs", hung},
		{"operators", operators},
		{"many at once", manyAtOnce},
		{"any order", anyOrder},
		{"generators", generators},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, &suite{Harness: h, space: fmt.Sprintf("t-%016x", rand.Uint64())})
		})
	}
}

// suite is one test's view: a space of its own.
type suite struct {
	Harness
	space string
}

const (
	window = 30_000
	ttl    = 900_000 // none ends while its test runs, however slow the store is
)

// patience is for what is certain to come, on a machine that is busy.
const patience = 2 * time.Minute

// request asks for a number out of four.
func (s *suite) request() driver.Request {
	return driver.Request{
		Namespace: s.space, Layout: "layout 1", WorkerIDs: 4, Preferred: -1, Exclude: -1,
		ClaimID: fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()), Owner: "storetest",
		Now: time.Now().UnixMilli(), FenceWindow: window, TTL: ttl, MaxSkew: 1 << 40, MaxLead: 1 << 40,
	}
}

// holder is a client that holds a number.
type holder struct {
	driver.Claim
	store driver.Store
	space string
	token string
}

func (h *holder) renew(ctx context.Context, until int64) error {
	return h.store.Renew(ctx, driver.Renewal{Namespace: h.space, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.token, Fence: until, TTL: ttl})
}

func (h *holder) release(ctx context.Context, until int64) error {
	return h.store.Release(ctx, driver.Return{Namespace: h.space, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.token, Fence: until})
}

func (s *suite) try(t *testing.T, store driver.Store, change func(*driver.Request)) (*holder, error) {
	t.Helper()
	r := s.request()
	if change != nil {
		change(&r)
	}
	c, err := store.Claim(t.Context(), r)
	if err != nil {
		return nil, err
	}
	if c.Worker < 0 || c.Worker >= r.WorkerIDs || c.FencingToken < 1 || c.Fence-c.From != r.FenceWindow {
		t.Fatalf("claim %+v for %+v", c, r)
	}
	return &holder{Claim: c, store: store, space: r.Namespace, token: r.ClaimID}, nil
}

// claim must succeed.
func (s *suite) claim(t *testing.T, store driver.Store, change func(*driver.Request)) *holder {
	t.Helper()
	h, err := s.try(t, store, change)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// only lets a request take this number and no other.
func only(n int64) func(*driver.Request) {
	return func(r *driver.Request) { r.Preferred, r.RequirePreferred = n, true }
}

func mustTaken(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrNotHeld) {
		t.Errorf("%s: %v, want ErrNotHeld", what, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expire lets a claim's time to live end, or its process.
func (s *suite) expire(t *testing.T, h *holder) {
	t.Helper()
	if s.Crash != nil {
		s.Crash(t, h.store)
		return
	}
	must(t, h.store.Renew(t.Context(), driver.Renewal{Namespace: h.space, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.token, Fence: h.Fence, TTL: 1}))
	time.Sleep(20 * time.Millisecond)
}

// await tries until it gets a number: for what a clock of the store's decides.
func (s *suite) await(t *testing.T, store driver.Store, change func(*driver.Request)) *holder {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		h, err := s.try(t, store, change)
		if err == nil {
			return h
		}
		if !errors.Is(err, driver.ErrNoWorkerID) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
