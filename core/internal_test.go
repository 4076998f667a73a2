package core

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// When Close has returned, not even a goroutine that passed every check before
// can issue: the cursor is closed, not just the fence.
func TestGrantCloseClosesTheCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
		now := time.Now()
		gr, err := NewGrant(Twitter(), 1, now, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(Config{Worker: holderOf{gr}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := g.current.Load()
		gr.Close()
		if a.cursor.Load() != closedCursor {
			t.Error("the cursor is still open")
		}
		a.raiseFirst(a.position(0).cursor>>12 + 100)
		if a.cursor.Load() != closedCursor {
			t.Error("the cursor has been opened again")
		}
		if _, err := gr.swap(a, a); err == nil {
			t.Error("a closed grant was passed on")
		}
	})
}

func TestUnusedSlots(t *testing.T) {
	u := newUnusedSlots(1 << 20)
	u.add(10, 13, 0)
	u.add(20, 22, 0)
	want := func(from, oldest, place uint64, ok bool) {
		t.Helper()
		if got, found := u.take(from, oldest); got != place || found != ok {
			t.Errorf("take(%d, %d) = %d, %v; want %d, %v", from, oldest, got, found, place, ok)
		}
	}
	want(11, 0, 11, true)  // within a range
	want(11, 0, 12, true)  // the rest of it
	want(11, 0, 20, true)  // the next one
	want(30, 0, 21, true)  // none after it: the last before it
	want(30, 11, 0, false) // what is left is too old
	want(0, 0, 0, false)   // and has been forgotten
	u.add(40, 50, 45)
	want(0, 45, 45, true) // what was too old when it was added
	for i := range uint64(2*maxRanges + 10) {
		u.add(100+2*i, 101+2*i, 0)
	}
	if n := len(u.ranges); n < maxRanges/4*3 || n > maxRanges {
		t.Errorf("%d ranges are kept", n)
	}
	u.close()
	u.add(1<<30, 1<<30+5, 0)
	want(0, 0, 0, false) // closed for good
}

// On the system's clock, too, a jump beyond MaxJump must last to be followed.
func TestLargeJumpOfTheSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := Twitter().compile()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(l.Epoch) + 24*time.Hour)
		at := time.Now()
		var events []EventKind
		c := newClock(l, nil, at, at, time.Minute, func(k EventKind, _ time.Duration) { events = append(events, k) })
		hour := uint64(time.Hour / time.Millisecond)
		late := anchor{wall: -int64(time.Hour), hybrid: -int64(time.Hour)} // the clock has since jumped an hour
		late.wall += c.anchor.Load().wall
		late.hybrid = late.wall
		c.anchor.Store(&late)
		old := func() uint64 { return l.tickOf(time.Now()) - hour }
		for range 9 {
			if now, hybrid := c.ticks(); now != old() || hybrid != now {
				t.Fatalf("%v after the jump: %d and %d, want %d", time.Since(at), now, hybrid, old())
			}
			time.Sleep(1001 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if now, hybrid := c.ticks(); now != old()+hour || hybrid != now {
			t.Errorf("%v after the jump: %d and %d, want %d", time.Since(at), now, hybrid, old()+hour)
		}
		if len(events) != 2 || events[0] != ClockJump || events[1] != ClockJumpAccepted {
			t.Errorf("events %v", events)
		}
	})
}

type holderOf struct{ grant *Grant }

func (h holderOf) Grant(context.Context, *Grant) (*Grant, error) { return h.grant, nil }

// The sightings of a jump: what counts, what begins anew, what is forgotten.
func TestJumpSightings(t *testing.T) {
	const second, jump = int64(time.Second), int64(time.Minute)
	for name, sightings := range map[string][]struct {
		at, to        int64
		lasted, first bool
	}{
		"lasts":            {{0, 1000, false, true}, {5 * second, 1000, false, false}, {9 * second, 1000, false, false}, {10 * second, 1000, true, false}},
		"too few":          {{0, 1000, false, true}, {11 * second, 1000, false, false}, {22 * second, 1000, true, false}},
		"within a moment":  {{0, 1000, false, true}, {1, 1000, false, false}, {2, 1000, false, false}, {11 * second, 1000, false, false}},
		"another, farther": {{0, 1000, false, true}, {5 * second, 1000, false, false}, {10 * second, 1001 + jump, false, true}},
		"another, nearer":  {{0, 2 * jump, false, true}, {5 * second, 2 * jump, false, false}, {10 * second, jump - 1, false, true}},
		"drifts":           {{0, jump, false, true}, {5 * second, 2 * jump, false, false}, {10 * second, 1, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var j jumpDetector
			for i, s := range sightings {
				if lasted, first := j.sight(s.to, s.at, jump); lasted != s.lasted || first != s.first {
					t.Errorf("sighting %d: %v, %v", i, lasted, first)
				}
			}
			j.clear()
			if _, first := j.sight(sightings[0].to, 0, jump); !first {
				t.Error("not forgotten")
			}
		})
	}
}

// A grant that is closed between being taken over and being given its beginning
// returns what is unused, and no wrong instant.
func TestGrantClosedWhileItBegins(t *testing.T) {
	var grants []*Grant
	for n := range int64(3) {
		gr, err := NewGrant(Twitter(), n, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, gr)
	}
	g, err := New(Config{Worker: &inTurn{grants}, MaxWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	old, taken := grants[0], grants[1]
	old.Revoke(nil)
	old.mu.Lock() // succeed asks it how far it came, when it has attached the next
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.regrant(t.Context(), g.current.Load(), new(int), RegrantLost) // the grant may be found closed, or not
	}()
	for gone := false; !gone && !taken.Attached(); {
		select {
		case <-done:
			gone = true
			t.Error("the next grant was not taken")
		case <-time.After(time.Millisecond):
		}
	}
	unused := taken.Close()
	old.mu.Unlock()
	<-done
	if unused.After(time.Now()) {
		t.Errorf("unused from %v", unused)
	}
	if _, err := g.Next(t.Context()); err != nil {
		t.Error(err)
	}
}

type inTurn struct{ grants []*Grant }

func (w *inTurn) Grant(context.Context, *Grant) (*Grant, error) {
	gr := w.grants[0]
	w.grants = w.grants[1:]
	return gr, nil
}

// grants gives one grant after the other.
type grants struct{ list []*Grant }

func (s *grants) Grant(context.Context, *Grant) (*Grant, error) {
	next := s.list[0]
	s.list = s.list[1:]
	return next, nil
}

// Under a fence, which proves that no other generator has issued in the present tick, ids begin at once:
// those of a new generator, and those after another grant.
func TestFirstIDUnderAFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
		for name, fence := range map[string]time.Time{"with a fence": time.Now().Add(time.Hour), "without": {}} {
			source := &grants{}
			for worker := range int64(2) {
				gr, err := NewGrant(Twitter(), worker, time.Now().Add(-time.Minute), fence)
				if err != nil {
					t.Fatal(err)
				}
				source.list = append(source.list, gr)
			}
			first := source.list[0]
			began := time.Now()
			g, err := New(Config{Worker: source, ClockPolicy: Refuse{}}) // which does not run ahead of the clock
			if err != nil {
				t.Fatal(err)
			}
			for worker := range int64(2) {
				id, err := g.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if parts, err := Twitter().Decode(id); err != nil || parts.Worker != worker {
					t.Fatalf("%+v, %v", parts, err)
				}
				if waited := time.Since(began); waited == 0 == fence.IsZero() {
					t.Errorf("%s: the first id of worker %d comes after %v", name, worker, waited)
				}
				time.Sleep(time.Second)
				began = time.Now()
				first.Revoke(nil)
			}
			g.Close()
		}
	})
}
