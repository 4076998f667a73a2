package core

import (
	"testing"
	"testing/synctest"
	"time"
)

// systemClock returns a clock that reads the system's, a day after the layout's epoch.
func systemClock(t *testing.T, event func(EventKind, time.Duration)) (compiledLayout, *clock) {
	l, err := Twitter().compile()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(l.Epoch) + 24*time.Hour)
	return l, newClock(&l, nil, time.Now(), time.Now(), time.Minute, event)
}

// The system's clock cannot be set from a test, so the anchor is moved instead:
// an anchor an hour ahead is a clock that has since gone back an hour.
func TestAnchorFollowsTheSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c := systemClock(t, func(EventKind, time.Duration) {})
		truth := func() uint64 { return l.tickOf(time.Now()) }
		hour := uint64(time.Hour / time.Millisecond)

		if now, hybrid := c.ticks(); now != truth() || hybrid != now {
			t.Errorf("at the start: %d and %d, want %d", now, hybrid, truth())
		}
		ahead := *c.anchor.Load()
		ahead.wall += int64(time.Hour)
		ahead.hybrid = ahead.wall
		c.anchor.Store(&ahead)
		if now, _ := c.ticks(); now != truth()+hour {
			t.Errorf("within a second of the last look the clock is read again: %d, want %d", now, truth()+hour)
		}
		time.Sleep(time.Second)
		if now, hybrid := c.ticks(); now != truth() || hybrid != truth()+hour {
			t.Errorf("after an hour back: now %d, hybrid %d; want %d, %d", now, hybrid, truth(), truth()+hour)
		}
		time.Sleep(30 * time.Minute)
		if now, hybrid := c.ticks(); now != truth() || hybrid != truth()+hour {
			t.Errorf("half an hour later: now %d, hybrid %d; want %d, %d", now, hybrid, truth(), truth()+hour)
		}
		hybrid := c.read().hybrid
		if d := time.Duration(c.startOf(truth()+hour+5) - hybrid); d > 5*time.Millisecond || d <= 4*time.Millisecond {
			t.Errorf("5 ticks from the hybrid clock are %v away", d)
		}

		behind := *c.anchor.Load()
		behind.wall -= int64(time.Minute)
		behind.checkAt = 0
		c.anchor.Store(&behind)
		if now, hybrid := c.ticks(); now != truth() || hybrid != truth()+hour {
			t.Errorf("after a minute forward: now %d, hybrid %d; want %d, %d", now, hybrid, truth(), truth()+hour)
		}

		noisy := *c.anchor.Load()
		noisy.wall += anchorNoise / 2
		noisy.checkAt = 0
		c.anchor.Store(&noisy)
		if c.ticks(); c.anchor.Load().wall != noisy.wall {
			t.Error("half a millisecond back was followed: it may be a pause between two reads")
		}
	})
}

// ticks returns the present tick of both clocks.
func (c *clock) ticks() (wall, hybrid uint64) {
	at := c.read()
	return c.tickAt(at.wall), c.tickAt(at.hybrid)
}

// Where no file declares methods of platform, there is no counter, and a sleep is one of Go's.
func TestPortable(t *testing.T) {
	p := platform{}.portable
	if p.counterIsClock() || p.readCounter() != 0 {
		t.Error("it has a counter")
	}
	if began := time.Now(); !p.sleepPrecisely(time.Millisecond) || time.Since(began) < time.Millisecond {
		t.Errorf("it slept for %v", time.Since(began))
	}
}

// On the system's clock, too, a jump beyond MaxJump must last to be followed.
func TestLargeJumpOfTheSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []EventKind
		l, c := systemClock(t, func(k EventKind, _ time.Duration) { events = append(events, k) })
		at := time.Now()
		hour := uint64(time.Hour / time.Millisecond)
		late := anchor{wall: c.anchor.Load().wall - int64(time.Hour)} // the clock has since jumped an hour
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
			j.pending.Store(false)
			if _, first := j.sight(sightings[0].to, 0, jump); !first {
				t.Error("not forgotten")
			}
		})
	}
}
