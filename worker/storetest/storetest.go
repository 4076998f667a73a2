// Package storetest has the suite that every lease store must pass, yours included:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Harness{
//			Open: func(t *testing.T) driver.Store {
//				store, err := mystore.New(…)
//				if err != nil {
//					t.Fatal(err)
//				}
//				return store
//			},
//		})
//	}
//
// It tests the three verbs, repeated and late requests, clocks that differ, limits, many claims
// at once, and generators over leases; and driver.Admin and driver.Counter, if the store has them. It cannot test
// that the store loses no write that it has acknowledged.
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

// Harness configures Run. Only Open is required.
type Harness struct {
	// Open returns a client of the store, such as another process would have. All clients of one
	// Run must share their records. Open registers with t.Cleanup what closes the client. The
	// suite uses namespaces with random names.
	Open func(t *testing.T) driver.Store
	// Hung returns a store whose client gets no answer and ignores its contexts. Nil: there is
	// no such client.
	Hung func(t *testing.T) driver.Store
}

// Run runs the suite, each part as a subtest.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, s *suite)
	}{
		{"first claim", firstClaim},
		{"worker IDs differ and run out", runOut},
		{"preferred worker ID", preferred},
		{"renew raises and never lowers", renew},
		{"renew needs fencing token and claim ID", renewGuarded},
		{"release lowers the fence", release},
		{"release needs fencing token and claim ID", releaseGuarded},
		{"takeover starts at the fence", takeover},
		{"a released worker ID starts at its last fence", clocksBehind},
		{"claim repeated", repeated},
		{"claim repeated with other fields", repeatedOtherwise},
		{"clocks apart", skew},
		{"clocks before worker IDs", clocksFirst},
		{"layouts", layouts},
		{"namespaces", namespaces},
		{"fences far ahead", farAhead},
		{"no time to live", forever},
		{"bad requests", badRequests},
		{"done context", doneContext},
		{"client that hangs", hung},
		{"operators", operators},
		{"counters", counters},
		{"many at once", manyAtOnce},
		{"any order", anyOrder},
		{"generators", generators},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, &suite{Harness: h, namespace: fmt.Sprintf("t-%016x", rand.Uint64())})
		})
	}
}

// suite is the harness and namespace of one subtest.
type suite struct {
	Harness
	namespace string
}

const (
	window = 30_000
	ttl    = 900_000 // none ends while its test runs, however slow the store is
)

// patience limits the wait for what must happen, on a busy machine.
const patience = 2 * time.Minute

// request asks for one of four worker IDs.
func (s *suite) request() driver.Request {
	return driver.Request{
		Namespace: s.namespace, Layout: "layout 1", WorkerIDs: 4, Preferred: -1, Exclude: -1,
		ClaimID: fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()), Owner: "storetest",
		Now: time.Now().UnixMilli(), FenceWindow: window, TTL: ttl, MaxSkew: 1 << 40, MaxLead: 1 << 40,
	}
}

// holder is a client that holds a worker ID.
type holder struct {
	driver.Claim
	store     driver.Store
	namespace string
	claimID   string
}

func (h *holder) renew(ctx context.Context, fence int64) error {
	return h.store.Renew(ctx, driver.Renewal{Namespace: h.namespace, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.claimID, Fence: fence, TTL: ttl})
}

func (h *holder) release(ctx context.Context, fence int64) error {
	return h.store.Release(ctx, driver.Return{Namespace: h.namespace, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.claimID, Fence: fence})
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
		t.Fatalf("the claim %+v does not match the request %+v", c, r)
	}
	return &holder{Claim: c, store: store, namespace: r.Namespace, claimID: r.ClaimID}, nil
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

// only makes a request accept this worker ID only.
func only(n int64) func(*driver.Request) {
	return func(r *driver.Request) { r.Preferred, r.RequirePreferred = n, true }
}

func mustNotHeld(t *testing.T, what string, err error) {
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

// expire ends the time to live of a claim.
func (s *suite) expire(t *testing.T, h *holder) {
	t.Helper()
	must(t, h.store.Renew(t.Context(), driver.Renewal{Namespace: h.namespace, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.claimID, Fence: h.Fence, TTL: 1}))
	time.Sleep(20 * time.Millisecond)
}

// await claims until it gets a worker ID, for what depends on the clock of the store.
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
