package core

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// When Close has returned, not even a goroutine that passed every check before
// can issue: the word is closed, not just the fence.
func TestGrantCloseClosesTheWord(t *testing.T) {
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
		r := g.run.Load()
		gr.Close()
		if r.word.Load() != closedWord {
			t.Error("the word is still open")
		}
		gr.lift(r, r.place()>>12+100)
		if r.word.Load() != closedWord {
			t.Error("the word has been opened again")
		}
		if _, err := gr.pass(r, r); err == nil {
			t.Error("a closed grant was passed on")
		}
	})
}

func TestLeftovers(t *testing.T) {
	l := newLeftovers(1 << 20)
	l.add(10, 13, 0)
	l.add(20, 22, 0)
	want := func(from, oldest, place uint64, ok bool) {
		t.Helper()
		if got, found := l.pop(from, oldest); got != place || found != ok {
			t.Errorf("pop(%d, %d) = %d, %v; want %d, %v", from, oldest, got, found, place, ok)
		}
	}
	want(11, 0, 11, true)  // within a span
	want(11, 0, 12, true)  // the rest of it
	want(11, 0, 20, true)  // the next one
	want(30, 0, 21, true)  // none after it: the last before it
	want(30, 11, 0, false) // what is left is too old
	want(0, 0, 0, false)   // and has been forgotten
	l.add(40, 50, 45)
	want(0, 45, 45, true) // what was too old when it was added
	for i := range uint64(2*maxSpans + 10) {
		l.add(100+2*i, 101+2*i, 0)
	}
	if n := len(l.spans); n < maxSpans/4*3 || n > maxSpans {
		t.Errorf("%d spans are kept", n)
	}
	l.close()
	l.add(1<<30, 1<<30+5, 0)
	want(0, 0, 0, false) // closed for good
}

// On the system's clock, too, a leap beyond MaxJump must last to be followed.
func TestAnchorDistrustsALargeLeap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Twitter().shape()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(s.layout.Epoch) + 24*time.Hour)
		at := time.Now()
		var events []EventKind
		c := newClock(s, nil, at, at, time.Minute, func(k EventKind, _ time.Duration) { events = append(events, k) })
		hour := uint64(time.Hour / time.Millisecond)
		late := anchor{wall: -int64(time.Hour), carried: -int64(time.Hour)} // the clock has since leapt an hour
		late.wall += c.anchor.Load().wall
		late.carried = late.wall
		c.anchor.Store(&late)
		old := func() uint64 { return s.tickOf(time.Now()) - hour }
		for range 9 {
			if now, carried := c.read(); now != old() || carried != now {
				t.Fatalf("%v after the leap: %d and %d, want %d", time.Since(at), now, carried, old())
			}
			time.Sleep(1001 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if now, carried := c.read(); now != old()+hour || carried != now {
			t.Errorf("%v after the leap: %d and %d, want %d", time.Since(at), now, carried, old()+hour)
		}
		if len(events) != 2 || events[0] != ClockJump || events[1] != ClockJumpAccepted {
			t.Errorf("events %v", events)
		}
	})
}

type holderOf struct{ grant *Grant }

func (h holderOf) Grant(context.Context, *Grant) (*Grant, error) { return h.grant, nil }

// The sightings of a leap: what counts, what begins anew, what is forgotten.
func TestLeapSightings(t *testing.T) {
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
		var l leap
		for i, s := range sightings {
			if lasted, first := l.lasts(s.to, s.at, jump); lasted != s.lasted || first != s.first {
				t.Errorf("%s, sighting %d: %v, %v", name, i, lasted, first)
			}
		}
		l.forget()
		if _, first := l.lasts(sightings[0].to, 0, jump); !first {
			t.Errorf("%s: not forgotten", name)
		}
	}
}

// A grant that is closed between being taken over and being given its beginning
// tells what is unused, and not nonsense.
func TestAGrantClosedWhileItBegins(t *testing.T) {
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
		_ = g.replace(t.Context(), g.run.Load(), &waiting{}, RegrantLost) // the grant may be found closed, or not
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
