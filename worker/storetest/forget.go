package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// When a store was put back, no claim starts before a fence that it has forgotten, and a holder
// that renews in time notices nothing.
func putBack(t *testing.T, s *suite) {
	store := s.Open(t)
	for _, first := range []string{"claim", "renewal"} {
		s.namespace += "x"
		old := s.claim(t, store, nil)
		before := s.list(t)
		forgotten := s.claim(t, store, nil)
		must(t, old.renew(t.Context()))
		must(t, forgotten.renew(t.Context()))
		s.back(t, before)
		last := max(old.Fence, forgotten.Fence)
		if first == "renewal" {
			must(t, old.renew(t.Context()))
			if err := forgotten.renew(t.Context()); !errors.Is(err, driver.ErrForgotten) {
				t.Errorf("renewed after it was forgotten: %v, want ErrForgotten", err)
			}
		}
		refused := s.request()
		only(old.Worker)(&refused)
		if l, err := store.Claim(t.Context(), refused); !errors.Is(err, driver.ErrNoWorkerID) || l.FloorRaised != (first == "claim") {
			t.Errorf("a refused claim, of which the floor rises: %t: FloorRaised is %t, %v", first == "claim", l.FloorRaised, err)
		}
		next := s.claim(t, store, only(forgotten.Worker))
		ns := s.list(t).Namespace
		if next.Start < last || next.Start != ns.Floor || next.Fence-next.Start != window || next.FencingToken <= forgotten.FencingToken {
			t.Errorf("fences up to %d were forgotten, the floor is %d, and the next claim is %+v", last, ns.Floor, next.Lease)
		}
		if next.FloorRaised {
			t.Error("a claim that has not raised the floor said so")
		}
		if ns.Incarnation == before.Namespace.Incarnation && first == "claim" && s.list(t).Server != ns.Incarnation {
			t.Errorf("the incarnation that is recorded is %q", ns.Incarnation)
		}
		mustAbout(t, "Since", ns.Since, max(clock(), ns.Floor-step))
		mustNotHeld(t, "renewed after it was forgotten", forgotten.renew(t.Context()))
		mustNotHeld(t, "released after it was forgotten", forgotten.release(t.Context(), forgotten.Start))
		must(t, old.renew(t.Context()))
		must(t, next.renew(t.Context()))
		if third := s.claim(t, store, nil); third.Start != ns.Floor || third.FloorRaised {
			t.Errorf("the floor is %d, and the claim after the first is %+v", ns.Floor, third.Lease)
		}
	}
}

// A holder cannot renew if the store may have forgotten that another has had its worker ID.
func superseded(t *testing.T, s *suite) {
	store := s.Open(t)
	for _, first := range []string{"claim", "renewal"} {
		s.namespace += "x"
		old := s.claim(t, store, nil)
		d := old.Fence - clock() + spread + 1
		before := aged(s.list(t), d)
		s.pass(t, d, old)
		other := s.claim(t, store, only(old.Worker))
		s.back(t, before)
		if first == "claim" {
			if next := s.claim(t, store, only(neither(old.Worker, -1))); next.Start < other.Fence {
				t.Errorf("%+v was forgotten, and the next claim is %+v", other.Lease, next.Lease)
			}
		}
		if err := old.renew(t.Context()); !errors.Is(err, driver.ErrForgotten) {
			t.Errorf("renewed after another's claim that is forgotten: %v, want ErrForgotten", err)
		}
		mustNotHeld(t, "the forgotten claim renewed", other.renew(t.Context()))
		// It can claim its worker ID again: the floor is above what is forgotten.
		own := s.claim(t, store, func(c *driver.Claim) { only(old.Worker)(c); c.Former = old.former(old.Start) })
		if own.Start < other.Fence {
			t.Errorf("%+v was forgotten, and the next claim is %+v", other.Lease, own.Lease)
		}
		must(t, own.renew(t.Context()))
	}
}

// Floors add up, to two steps ahead of the clock. A holder that renews after each time notices
// nothing.
func again(t *testing.T, s *suite) {
	store := s.Open(t)
	old := s.claim(t, store, only(0))
	before := s.list(t)
	last := old.Fence
	for n := 0; ; n++ {
		s.back(t, before)
		h, err := s.try(t, store, only(1))
		var floor *driver.FloorError
		if errors.As(err, &floor) {
			if n == 0 || floor.Namespace != s.namespace || floor.Wait <= 0 || floor.Wait > step {
				t.Errorf("after it was put back %d times: %v (%+v)", n+1, err, floor)
			}
			break
		}
		must(t, err)
		if h.Start < last || h.Start > clock()+2*step+slack || n > 2 {
			t.Fatalf("after it was put back %d times, the claim is %+v, %d ms ahead of the clock; the last one ended at %d", n+1, h.Lease, h.Start-clock(), last)
		}
		last = h.Fence
		must(t, old.renew(t.Context()))
		before = s.list(t)
		before.Records = before.Records[:1] // h is what is forgotten
	}
	must(t, old.renew(t.Context()))
	if floor := s.floor(t); floor > clock()+2*step+slack {
		t.Errorf("a renewal has raised the floor to %d, which is %d ms ahead of the clock", floor, floor-clock())
	}
	s.pass(t, step+slack, old)
	h := s.claim(t, store, only(1))
	if h.Start < last-step-slack {
		t.Errorf("%+v starts before the fence %d", h.Lease, last-step-slack)
	}
	must(t, old.renew(t.Context()))
}

// A record that is missing was forgotten; those that are left are renewed.
func recordsMissing(t *testing.T, s *suite) {
	store := s.Open(t)
	lost, other := s.claim(t, store, nil), s.claim(t, store, nil)
	s.settle(t, lost, other)
	must(t, lost.renew(t.Context()))
	st := s.list(t)
	st.Records = slices.DeleteFunc(st.Records, func(rec driver.Record) bool { return rec.Worker == lost.Worker })
	s.Put(t, st)
	if err := lost.renew(t.Context()); !errors.Is(err, driver.ErrForgotten) {
		t.Errorf("renewed after its record was deleted: %v, want ErrForgotten", err)
	}
	must(t, other.renew(t.Context()))
	next := s.claim(t, store, only(lost.Worker))
	if next.Start < lost.Fence || !next.FloorRaised {
		t.Errorf("the record of %+v was deleted, and the next claim is %+v", lost.Lease, next.Lease)
	}
	s.settle(t, other, next)
	must(t, other.renew(t.Context()))
	st = s.list(t)
	st.Records = nil
	s.Put(t, st)
	if h := s.claim(t, store, only(other.Worker)); h.Start < max(other.Fence, next.Fence) {
		t.Errorf("all records were deleted, and after %+v and %+v the next claim is %+v", other.Lease, next.Lease, h.Lease)
	}
}

// A namespace that is missing was perhaps forgotten, and certainly if it has records.
func namespaceMissing(t *testing.T, s *suite) {
	store := s.Open(t)
	h := s.claim(t, store, nil)
	s.settle(t, h)
	st := s.list(t)
	st.Missing = true
	s.Put(t, st)
	if err := h.renew(t.Context()); !errors.Is(err, driver.ErrForgotten) {
		t.Errorf("renewed after the namespace was deleted: %v, want ErrForgotten", err)
	}
	next := s.claim(t, store, nil)
	if next.Start < h.Fence || next.Worker == h.Worker {
		t.Errorf("the namespace was deleted, and after %+v the next claim is %+v", h.Lease, next.Lease)
	}
	must(t, h.renew(t.Context())) // its record is there
	st = s.list(t)
	st.Missing, st.Records = true, nil
	s.Put(t, st)
	floor := int64(0)
	if !s.list(t).New {
		floor = max(h.Fence, next.Fence) - step // the floor that it was forgotten with
	}
	if all := s.claim(t, store, nil); all.Start < floor {
		t.Errorf("everything was deleted, and after %+v and %+v the next claim is %+v", h.Lease, next.Lease, all.Lease)
	}
	mustNotHeld(t, "renewed after everything was deleted", next.renew(t.Context()))
}

// Requests in any order, also late ones and doubled ones, while time passes, the store is put
// back, and operators free, delete and raise.
func anyOrder(t *testing.T, s *suite) {
	spans, backs := s.history(t, 1, 500)
	if text := overlap(spans); text != "" {
		t.Error(text)
	}
	if len(spans) < 25 || backs < 8 {
		t.Errorf("only %d claims succeeded, and the store was put back %d times", len(spans), backs)
	}
}

// history runs a random history. It returns what was granted, in a time in which nothing is
// moved, and how often the store was put back.
func (s *suite) history(t *testing.T, seed uint64, steps int) (spans []span, backs int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	store := s.Open(t)
	ctx := t.Context()
	type belief struct {
		*holder
		span
		closed bool
		unused int64 // what a closed one says
	}
	type saved struct {
		driver.State
		passed int64
	}
	var all []*belief
	var states []saved
	passed := int64(0)
	recent := func() *belief { return all[len(all)-1-rng.IntN(min(len(all), 6))] }
	end := func(b *belief) { // once, and for ever
		if !b.closed {
			b.closed, b.unused = true, b.start+rng.Int64N(b.fence-b.start)
			b.fence = b.unused
		}
	}
	s.claim(t, store, nil)
	for range steps {
		action := rng.IntN(20)
		switch {
		case action < 5 || len(all) == 0:
			c := s.request()
			c.Now += rng.Int64N(8000) - 4000
			if len(all) > 0 && rng.IntN(2) == 0 {
				b := recent()
				end(b)
				c.Former = b.former(b.unused - passed)
			}
			if rng.IntN(4) == 0 {
				_, _ = store.Claim(ctx, c) // the answer is lost
			}
			l, err := store.Claim(ctx, c)
			if errors.Is(err, driver.ErrNoWorkerID) || errors.As(err, new(*driver.FloorError)) {
				continue
			}
			must(t, err)
			all = append(all, &belief{
				holder: &holder{Lease: l, store: store, namespace: s.namespace, claimID: c.ClaimID},
				span:   span{l.Worker, l.FencingToken, l.Start + passed, l.Fence + passed},
			})
		case action < 11:
			b := recent()
			b.keep = rng.IntN(20) == 0
			r := driver.Renewal{Namespace: s.namespace, Worker: b.Worker, FencingToken: b.FencingToken, ClaimID: b.claimID, FenceWindow: window, Keep: b.keep}
			switch l, err := store.Renew(ctx, r); {
			case errors.Is(err, driver.ErrNotHeld):
				if !b.closed { // its ids end at the fence
					b.closed, b.unused = true, b.fence
				}
			case err != nil:
				t.Fatal(err)
			case !b.closed:
				b.fence = max(b.fence, l.Fence+passed)
			}
		case action < 13:
			b := recent()
			if rng.IntN(3) > 0 {
				end(b)
			} else if !b.closed {
				continue
			}
			if err := b.release(ctx, b.unused-passed); err != nil && !errors.Is(err, driver.ErrNotHeld) {
				t.Fatal(err)
			}
		case action < 15:
			d := rng.Int64N(step)
			s.pass(t, d)
			passed += d
		case action < 18:
			states = append(states, saved{s.list(t), passed})
		case action == 18 && len(states) > 0:
			k := rng.IntN(len(states))
			st := aged(states[k].State, passed-states[k].passed)
			if rng.IntN(2) == 0 { // each record goes back separately
				for i, rec := range st.Records {
					other := states[k+rng.IntN(len(states)-k)]
					if j := slices.IndexFunc(other.Records, func(r driver.Record) bool { return r.Worker == rec.Worker }); j >= 0 {
						st.Records[i] = aged(other.State, passed-other.passed).Records[j]
					}
				}
			}
			s.back(t, st)
			states, backs = states[:k+1], backs+1
		case action == 19:
			st := s.list(t)
			if len(st.Records) == 0 {
				continue
			}
			i := rng.IntN(len(st.Records))
			switch rng.IntN(4) {
			case 0, 1:
				_ = store.(driver.Admin).Free(ctx, s.namespace, st.Records[i].Worker, st.Records[i].FencingToken)
			case 2:
				st.Records = slices.Delete(st.Records, i, i+1)
				s.Put(t, st)
			case 3:
				_, err := store.(driver.Admin).Raise(ctx, s.namespace, 0)
				must(t, err)
			}
		}
	}
	for _, b := range all {
		spans = append(spans, b.span)
	}
	return spans, backs
}
