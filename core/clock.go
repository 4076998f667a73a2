package core

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	anchorEvery    = int64(time.Second)      // how long the monotonic clock alone is trusted
	anchorReadings = 5                       // of which the best is taken
	anchorNoise    = int64(time.Millisecond) // a smaller step back is not followed, it may be a pause between two reads
)

// clock tells time in ticks of a layout: `now` is the wall clock, and `carried`
// is the highest wall clock seen, carried on by the monotonic clock, which is
// where `now` would be had it never gone back.
type clock struct {
	wallNow  func() time.Time // nil: the system clock, read through the monotonic one
	shape    *shape
	tickNs   int64
	start    time.Time // has the monotonic reading that elapsed time counts from
	origin   time.Time // the beginning of tick `base`, no monotonic reading
	base     int64
	anchor   atomic.Pointer[anchor]
	anchorMu sync.Mutex
}

// anchor says where the wall clock stands on the monotonic one: offsets in ns
// from clock.origin at an elapsed time of zero.
type anchor struct {
	wall, carried int64
	checkAt       int64 // elapsed time at which to look again
}

// newClock starts a clock at `at`, which carries a monotonic reading; `wall` is the
// wall clock's time, within the layout's.
func newClock(s *shape, now func() time.Time, at, wall time.Time) *clock {
	c := &clock{wallNow: now, shape: s, tickNs: int64(s.layout.Tick), start: at}
	base := s.tickOf(wall)
	c.base, c.origin = int64(base), s.startOf(base)
	offset := c.sinceOrigin(wall)
	c.anchor.Store(&anchor{wall: offset, carried: offset})
	return c
}

// sinceOrigin is the wall clock's distance from the origin in ns, held within
// 146 years so that sums cannot overflow.
func (c *clock) sinceOrigin(wall time.Time) int64 {
	return min(max(int64(wall.Round(0).Sub(c.origin)), math.MinInt64/2), math.MaxInt64/2)
}

// read gives the present tick by the wall clock and by the carried clock;
// carried is never below now.
func (c *clock) read() (now, carried uint64) {
	elapsed := int64(time.Since(c.start))
	a := c.anchor.Load()
	if c.wallNow != nil {
		return c.readGiven(a, elapsed)
	}
	if elapsed >= a.checkAt {
		a = c.reanchor(a)
	}
	now = c.tickAt(elapsed + a.wall)
	if a.carried == a.wall {
		return now, now
	}
	return now, c.tickAt(elapsed + a.carried)
}

// readGiven reads the wall clock that the Config gave; only the carried clock
// is kept on the anchor.
func (c *clock) readGiven(a *anchor, elapsed int64) (now, carried uint64) {
	wall := c.sinceOrigin(c.wallNow())
	for wall-elapsed > a.carried {
		next := &anchor{carried: wall - elapsed}
		if c.anchor.CompareAndSwap(a, next) {
			a = next
			break
		}
		a = c.anchor.Load()
	}
	return c.tickAt(wall), c.tickAt(elapsed + a.carried)
}

// reanchor compares the wall clock with the monotonic one. One goroutine does;
// the others go on with what they have.
func (c *clock) reanchor(old *anchor) *anchor {
	if !c.anchorMu.TryLock() {
		return old
	}
	defer c.anchorMu.Unlock()
	if a := c.anchor.Load(); a != old {
		return a
	}
	// time.Now reads the wall clock first. A pause between its two reads makes
	// the difference too small and never too large: so the greatest is the
	// best, and ids never run ahead of the true wall clock.
	var wall, elapsed int64 = math.MinInt64, 0
	for range anchorReadings {
		t := time.Now()
		elapsed = int64(t.Sub(c.start))
		wall = max(wall, c.sinceOrigin(t)-elapsed)
	}
	if back := old.wall - wall; back > 0 && back < anchorNoise {
		wall = old.wall
	}
	a := &anchor{wall: wall, carried: max(old.carried, wall), checkAt: elapsed + anchorEvery}
	c.anchor.Store(a)
	return a
}

// tickAt is the tick that lies ns after the origin; a time before the epoch
// counts as tick 0.
func (c *clock) tickAt(ns int64) uint64 {
	if ns >= 0 && c.tickNs == int64(time.Millisecond) {
		return uint64(c.base + ns/int64(time.Millisecond)) // a constant divisor is several times as fast
	}
	ticks := ns / c.tickNs
	if ns%c.tickNs < 0 {
		ticks--
	}
	return uint64(max(c.base+ticks, 0))
}

// until is how long the carried clock, or the wall clock, takes to reach a tick.
func (c *clock) until(tick uint64, byWall bool) time.Duration {
	elapsed := int64(time.Since(c.start))
	a := c.anchor.Load()
	offset := a.carried + elapsed
	if byWall {
		offset = a.wall + elapsed
		if c.wallNow != nil {
			offset = c.sinceOrigin(c.wallNow())
		}
	}
	ticks := int64(tick) - c.base
	if ticks > math.MaxInt64/2/c.tickNs {
		return math.MaxInt64 / 2
	}
	return time.Duration(max(ticks*c.tickNs-offset, 0))
}
