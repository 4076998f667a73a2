// Package storetest has the suite that every lease store must pass, yours included:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Config{
//			Open: func(t *testing.T) driver.Store {
//				store, err := mystore.New(…)
//				if err != nil {
//					t.Fatal(err)
//				}
//				return store
//			},
//			Put: func(t *testing.T, s driver.State) { … },
//		})
//	}
//
// It tests the three verbs and driver.Admin, repeated and late requests, clocks that differ,
// limits, a store that forgets, many claims at once, and generators over leases; and
// driver.Counter, if the store has it. It cannot test that the incarnation changes whenever the
// store forgets. Package memstore has a store that passes, to read.
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

// Config configures Run. Only Open is required.
type Config struct {
	// Open returns a client of the store, such as another process would have. It must implement
	// driver.Admin. All clients of one Run must share their records. Open registers with
	// t.Cleanup what closes the client. The suite uses namespaces with random names.
	Open func(t *testing.T) driver.Store
	// Put replaces all that the store keeps of the namespace s.Namespace.Name, as a restore or an
	// operator does, not by the store's methods. It writes s.Namespace as it is, or none if
	// s.Missing, and s.Records; the rest of s has no meaning. So the suite deletes records, lets
	// time pass, and puts the store back to an earlier state, with the incarnation of another
	// server. Nil: nobody can do that to this store, and these parts are left out.
	Put func(t *testing.T, s driver.State)
	// Hung returns a store whose client gets no answer and ignores its contexts. Nil: there is
	// no such client.
	Hung func(t *testing.T) driver.Store
}

// Run runs the suite, each part as a subtest.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	for _, c := range []struct {
		name string
		puts bool // it needs Put
		test func(t *testing.T, s *suite)
	}{
		{"first claim", false, firstClaim},
		{"worker IDs differ and run out", false, runOut},
		{"preferred worker ID", false, preferred},
		{"renew raises and never lowers", false, renew},
		{"renew needs fencing token and claim ID", false, renewGuarded},
		{"release lowers the fence", false, release},
		{"release needs fencing token and claim ID", false, releaseGuarded},
		{"claim repeated", false, repeated},
		{"claim repeated with other fields", false, repeatedOtherwise},
		{"former lease", false, former},
		{"clocks apart", false, skew},
		{"clocks before worker IDs", false, clocksFirst},
		{"layouts", false, layouts},
		{"windows", false, windows},
		{"namespaces", false, namespaces},
		{"bad claims", false, badClaims},
		{"done context", false, doneContext},
		{"client that hangs", false, hung},
		{"operators", false, operators},
		{"raised floor", false, raise},
		{"counters", false, counters},
		{"takeover", true, takeover},
		{"kept", true, kept},
		{"freed", true, freed},
		{"fences far ahead", true, farAhead},
		{"put back", true, putBack},
		{"superseded in what is forgotten", true, superseded},
		{"put back again and again", true, again},
		{"records missing", true, recordsMissing},
		{"namespace missing", true, namespaceMissing},
		{"any order", true, anyOrder},
		{"as decided", true, asDecided},
		{"many at once", false, manyAtOnce},
		{"generators", false, generators},
	} {
		if c.puts && cfg.Put == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			c.test(t, &suite{Config: cfg, namespace: fmt.Sprintf("t-%016x", rand.Uint64())})
		})
	}
}

// suite is the configuration and namespace of one subtest.
type suite struct {
	Config
	namespace string
	lives     int // incarnations that were put
}

const (
	window = 30_000 // none ends while its test runs, unless the test lets time pass
	spread = 10_000 // MaxSkew
	step   = window + spread
	slack  = 5_000 // by how much the clocks of the test and of the store may differ
)

// patience limits the wait for what must happen, on a busy machine.
const patience = 2 * time.Minute

func clock() int64 { return time.Now().UnixMilli() }

// request asks for one of four worker IDs.
func (s *suite) request() driver.Claim {
	return driver.Claim{
		Namespace: s.namespace, Layout: "layout 1", WorkerIDs: 4, Preferred: -1, Exclude: -1,
		ClaimID: fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()), Owner: "storetest",
		Now: clock(), FenceWindow: window, MaxSkew: spread,
	}
}

// holder is a client that holds a worker ID.
type holder struct {
	driver.Lease
	store     driver.Store
	namespace string
	claimID   string
	keep      bool
}

func (h *holder) renew(ctx context.Context) error {
	l, err := h.store.Renew(ctx, driver.Renewal{Namespace: h.namespace, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.claimID, FenceWindow: window, Keep: h.keep})
	if err != nil {
		return err
	}
	if l.Worker != h.Worker || l.FencingToken != h.FencingToken || l.Fence < h.Fence {
		return fmt.Errorf("%+v was renewed as %+v", h.Lease, l)
	}
	l.Start = h.Start // Renew need not return it
	h.Lease = l
	return nil
}

func (h *holder) release(ctx context.Context, unused int64) error {
	return h.store.Release(ctx, driver.Release{Namespace: h.namespace, Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: h.claimID, Unused: unused})
}

func (h *holder) former(unused int64) driver.Former {
	return driver.Former{Worker: h.Worker, ClaimID: h.claimID, FencingToken: h.FencingToken, Unused: unused}
}

func (s *suite) try(t *testing.T, store driver.Store, change func(*driver.Claim)) (*holder, error) {
	t.Helper()
	c := s.request()
	if change != nil {
		change(&c)
	}
	l, err := store.Claim(t.Context(), c)
	if err != nil {
		return nil, err
	}
	if err := c.CheckLease(l); err != nil {
		t.Fatal(err)
	}
	return &holder{Lease: l, store: store, namespace: c.Namespace, claimID: c.ClaimID}, nil
}

// claim must succeed.
func (s *suite) claim(t *testing.T, store driver.Store, change func(*driver.Claim)) *holder {
	t.Helper()
	h, err := s.try(t, store, change)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// only makes a claim accept this worker ID only.
func only(n int64) func(*driver.Claim) {
	return func(c *driver.Claim) { c.Preferred, c.RequirePreferred = n, true }
}

// list returns what the store has of the namespace.
func (s *suite) list(t *testing.T) driver.State {
	t.Helper()
	return listed(t, s.Open(t), s.namespace)
}

func listed(t *testing.T, store driver.Store, namespace string) driver.State {
	t.Helper()
	st, err := store.(driver.Admin).List(t.Context(), namespace)
	must(t, err)
	// The records that were never held are not listed: as if they had not been made.
	st.Namespace.Seen -= st.Count - int64(len(st.Records))
	st.Namespace.Name = namespace
	return st
}

func (s *suite) floor(t *testing.T) int64 { t.Helper(); return s.list(t).Namespace.Floor }

// aged is the state as it is d milliseconds later.
func aged(st driver.State, d int64) driver.State {
	st.Namespace.Floor = max(st.Namespace.Floor-d, 0)
	st.Namespace.Since -= d
	records := make([]driver.Record, len(st.Records))
	for i, rec := range st.Records {
		rec.Start, rec.Fence = rec.Start-d, rec.Fence-d
		records[i] = rec
	}
	st.Records = records
	return st
}

// pass lets d milliseconds pass: it moves all instants.
func (s *suite) pass(t *testing.T, d int64, held ...*holder) {
	t.Helper()
	s.Put(t, aged(s.list(t), d))
	for _, h := range held {
		h.Start, h.Fence = h.Start-d, h.Fence-d
	}
}

// settle lets time pass until the floor is not ahead of the clock, as it is in a new namespace of a
// store that cannot tell it from one that was forgotten.
func (s *suite) settle(t *testing.T, held ...*holder) {
	t.Helper()
	if ahead := s.floor(t) - clock(); ahead > 0 {
		s.pass(t, ahead+slack, held...)
	}
}

// back puts the store back to an earlier state, with the incarnation of another server. A floor
// that is ahead of the clock is not forgotten.
func (s *suite) back(t *testing.T, st driver.State) {
	t.Helper()
	if floor := s.floor(t); floor > clock()-slack {
		st.Namespace.Floor = max(st.Namespace.Floor, floor)
	}
	s.lives++
	st.Namespace.Incarnation = fmt.Sprintf("storetest %d", s.lives)
	s.Put(t, st)
}

func mustNotHeld(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrNotHeld) {
		t.Errorf("%s: %v, want ErrNotHeld", what, err)
	}
}

// mustAbout checks an instant that the store's clock decides.
func mustAbout(t *testing.T, what string, have, want int64) {
	t.Helper()
	if have < want-slack || have > want+slack {
		t.Errorf("%s is %d, want about %d: it differs by %d ms", what, have, want, have-want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
