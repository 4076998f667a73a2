package core

import (
	"testing"
	"testing/synctest"
	"time"
)

// The system's clock cannot be set from a test, so the anchor is moved instead:
// an anchor an hour ahead is a clock that has since gone back an hour.
func TestAnchorFollowsASystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Twitter().shape()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(s.layout.Epoch) + time.Hour)
		at := time.Now()
		c := newClock(s, nil, at, at, time.Minute, func(EventKind, time.Duration) {})
		truth := func() uint64 { return s.tickOf(time.Now()) }
		hour := uint64(time.Hour / time.Millisecond)

		if now, carried := c.read(); now != truth() || carried != now {
			t.Errorf("at the start: %d and %d, want %d", now, carried, truth())
		}
		ahead := *c.anchor.Load()
		ahead.wall += int64(time.Hour)
		ahead.carried = ahead.wall
		c.anchor.Store(&ahead)
		if now, _ := c.read(); now != truth()+hour {
			t.Errorf("within a second of the last look the clock is read again: %d, want %d", now, truth()+hour)
		}
		time.Sleep(time.Second)
		if now, carried := c.read(); now != truth() || carried != truth()+hour {
			t.Errorf("after an hour back: now %d, carried %d; want %d, %d", now, carried, truth(), truth()+hour)
		}
		time.Sleep(30 * time.Minute)
		if now, carried := c.read(); now != truth() || carried != truth()+hour {
			t.Errorf("half an hour later: now %d, carried %d; want %d, %d", now, carried, truth(), truth()+hour)
		}
		_, _, carried := c.lines()
		if d := time.Duration(c.startOf(truth()+hour+5) - carried); d > 5*time.Millisecond || d <= 4*time.Millisecond {
			t.Errorf("5 ticks from the carried clock are %v away", d)
		}

		behind := *c.anchor.Load()
		behind.wall -= int64(time.Minute)
		behind.checkAt = 0
		c.anchor.Store(&behind)
		if now, carried := c.read(); now != truth() || carried != truth()+hour {
			t.Errorf("after a minute forward: now %d, carried %d; want %d, %d", now, carried, truth(), truth()+hour)
		}

		noisy := *c.anchor.Load()
		noisy.wall += anchorNoise / 2
		noisy.checkAt = 0
		c.anchor.Store(&noisy)
		if c.read(); c.anchor.Load().wall != noisy.wall {
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
		c := &clock{base: 3, tickNs: int64(tick), plain: tick == time.Millisecond}
		for _, x := range []struct {
			ns   int64
			want uint64
		}{{0, 3}, {c.tickNs - 1, 3}, {c.tickNs, 4}, {-1, 2}, {-c.tickNs, 2}, {-c.tickNs - 1, 1}, {-100 * c.tickNs, 0}} {
			if got := c.tickAt(x.ns); got != x.want {
				t.Errorf("ticks of %v: %d ns from tick 3 is in %d, want %d", tick, x.ns, got, x.want)
			}
		}
	}
}
