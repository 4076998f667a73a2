package core

import (
	"testing"
	"testing/synctest"
	"time"
)

// The system's clock cannot be set from a test, so the anchor is moved instead:
// an anchor an hour ahead is a clock that has since gone back an hour.
func TestAnchorFollowsTheSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := Twitter().compile()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(l.Epoch) + time.Hour)
		at := time.Now()
		c := newClock(l, nil, at, at, time.Minute, func(EventKind, time.Duration) {})
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

func TestGreatestOf(t *testing.T) {
	readings := []int64{-7, -3, -50, -4, -9, 100}
	if got := greatestOf(5, func() int64 { r := readings[0]; readings = readings[1:]; return r }); got != -3 || len(readings) != 1 {
		t.Errorf("%d, and %d readings are left", got, len(readings))
	}
}

func TestTickAtRoundsDown(t *testing.T) {
	for _, tick := range []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second} {
		t.Run(tick.String(), func(t *testing.T) {
			c := &clock{base: 3, tickNs: int64(tick), plain: tick == time.Millisecond}
			for _, x := range []struct {
				ns   int64
				want uint64
			}{{0, 3}, {c.tickNs - 1, 3}, {c.tickNs, 4}, {-1, 2}, {-c.tickNs, 2}, {-c.tickNs - 1, 1}, {-100 * c.tickNs, 0}} {
				if got := c.tickAt(x.ns); got != x.want {
					t.Errorf("ticks of %v: %d ns from tick 3 is in %d, want %d", tick, x.ns, got, x.want)
				}
			}
		})
	}
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
