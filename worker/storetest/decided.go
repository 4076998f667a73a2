package storetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// In random states, each verb answers and writes what package driver decides, as memstore does.
func asDecided(t *testing.T, s *suite) {
	store, model := s.Open(t), memstore.New(memstore.Config{})
	s.settle(t, s.claim(t, store, nil))
	server, memory := s.list(t).Server, listed(t, model, s.namespace).Server
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 150 {
		began := clock()
		st := s.randomState(random, server)
		verb, ask := s.randomRequest(random, st)
		do := func(store driver.Store) string {
			l, err := ask(t, store)
			after := listed(t, store, s.namespace)
			after.Namespace.Incarnation = map[bool]string{true: "the same", false: "another"}[after.Namespace.Incarnation == after.Server]
			return outcome(l, err, began) + text(after, began)
		}
		s.Put(t, st)
		got := do(store)
		if st.Namespace.Incarnation == server {
			st.Namespace.Incarnation = memory
		}
		model.Put(st)
		if want := do(model); got != want && clock()-began < 2_000 {
			t.Errorf("round %d: %s of %s:\n%s\nwant\n%s", round, verb, text(st, began), got, want)
		}
	}
}

// randomState has up to four records. Its instants are multiples of 10 s from now, and half of that more, so
// that it does not matter how long a request takes.
func (s *suite) randomState(random *rand.Rand, server string) driver.State {
	at := func(from, to int64) int64 { return clock() + (from+random.Int64N(to-from))*10_000 + 5_000 }
	st := driver.State{Namespace: driver.Namespace{
		Name: s.namespace, Layout: s.request().Layout, FenceWindow: window, MaxSkew: spread, Incarnation: server, Since: at(-6, 2), Version: driver.Version,
	}}
	ns := &st.Namespace
	if random.IntN(2) == 0 {
		ns.Incarnation = "storetest another"
	}
	if random.IntN(3) > 0 {
		ns.Floor = at(-4, 14)
	}
	statuses := []driver.Status{driver.Unused, driver.Held, driver.Held, driver.Kept, driver.Released, driver.Freed}
	for id := range int64(4) {
		rec := driver.Record{Worker: id, Status: statuses[random.IntN(len(statuses))]}
		if random.IntN(5) == 0 {
			ns.Seen += random.Int64N(4) / 3 // it is missing
			continue
		}
		if ns.Seen++; rec.Status != driver.Unused {
			rec.Start, rec.Fence, rec.ClaimID, rec.Owner = at(-12, -6), at(-6, 14), fmt.Sprint("claim ", id), "storetest"
			rec.FencingToken = rec.Start
		}
		st.Records = append(st.Records, rec)
	}
	return st
}

// randomRequest returns a request that a holder of one of the records may make, or may have made.
func (s *suite) randomRequest(random *rand.Rand, st driver.State) (verb string, ask func(*testing.T, driver.Store) (driver.Lease, error)) {
	rec := driver.Record{Worker: 2, ClaimID: "unknown", FencingToken: 7}
	if len(st.Records) > 0 {
		rec = st.Records[random.IntN(len(st.Records))]
	}
	token := rec.FencingToken + random.Int64N(8)/6
	unused := rec.Fence - 1_000
	switch random.IntN(9) {
	case 0:
		r := driver.Release{Namespace: s.namespace, Worker: rec.Worker, ClaimID: rec.ClaimID, FencingToken: token, Unused: unused}
		return fmt.Sprintf("%+v", r), func(t *testing.T, store driver.Store) (driver.Lease, error) {
			return driver.Lease{}, store.Release(t.Context(), r)
		}
	case 1:
		return fmt.Sprintf("freeing %d, %d", rec.Worker, token), func(t *testing.T, store driver.Store) (driver.Lease, error) {
			return driver.Lease{}, store.(driver.Admin).Free(t.Context(), s.namespace, rec.Worker, token)
		}
	case 2:
		wider := random.Int64N(2) * 2 * window
		return fmt.Sprintf("raising the floor, and the window to %d,", wider), func(t *testing.T, store driver.Store) (driver.Lease, error) {
			_, err := store.(driver.Admin).Raise(t.Context(), s.namespace, wider)
			return driver.Lease{}, err
		}
	case 3, 4, 5:
		r := driver.Renewal{Namespace: s.namespace, Worker: rec.Worker, ClaimID: rec.ClaimID, FencingToken: token, FenceWindow: window, Keep: random.IntN(4) == 0}
		return fmt.Sprintf("%+v", r), func(t *testing.T, store driver.Store) (driver.Lease, error) {
			l, err := store.Renew(t.Context(), r)
			l.Start = 0 // has no meaning
			return l, err
		}
	}
	c := s.request()
	switch random.IntN(5) {
	case 0:
		c.Preferred, c.RequirePreferred = rec.Worker, random.IntN(2) == 0
	case 1:
		c.Exclude = rec.Worker
	case 2:
		c.Former = driver.Former{Worker: rec.Worker, ClaimID: rec.ClaimID, FencingToken: token, Unused: unused}
	case 3:
		if rec.FencingToken > 0 {
			c.ClaimID = rec.ClaimID
		}
	}
	return fmt.Sprintf("%+v", c), func(t *testing.T, store driver.Store) (driver.Lease, error) { return store.Claim(t.Context(), c) }
}

// outcome is an answer, with its instants relative to now.
func outcome(l driver.Lease, err error, now int64) string {
	var none *driver.NoWorkerIDError
	switch {
	case errors.As(err, &none):
		return fmt.Sprintf("NoWorkerIDError of %d, %d leased, %d ahead, floor raised: %t", none.WorkerIDs, none.Leased, none.Ahead, l.FloorRaised)
	case errors.As(err, new(*driver.FloorError)):
		return "FloorError"
	case errors.Is(err, driver.ErrForgotten):
		return "ErrForgotten"
	case errors.Is(err, driver.ErrNotHeld):
		return "ErrNotHeld"
	case err != nil:
		return err.Error()
	}
	l.FencingToken, l.Start, l.Fence = relative(l.FencingToken, now), relative(l.Start, now), relative(l.Fence, now)
	return fmt.Sprintf("%+v", l)
}

// text is a namespace and its records, with their instants relative to now.
func text(st driver.State, now int64) string {
	ns := st.Namespace
	ns.Since, ns.Floor = relative(ns.Since, now), relative(ns.Floor, now)
	text := fmt.Sprintf("\n\t%+v", ns)
	for _, rec := range st.Records {
		rec.FencingToken, rec.Start, rec.Fence = relative(rec.FencingToken, now), relative(rec.Start, now), relative(rec.Fence, now)
		text += fmt.Sprintf("\n\t%+v", rec)
	}
	return text
}

// relative returns an instant in seconds from now, as a multiple of 5. It leaves 0 and small numbers.
func relative(at, now int64) int64 {
	if at < 1e9 {
		return at
	}
	return int64(math.Round(float64(at-now)/5_000)) * 5
}
