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
	leapLasts      = int64(10 * time.Second) // how long a large leap must have lasted to be followed
)

// clock tells time in ticks of a layout: `now` is the wall clock, and `carried`
// is the highest wall clock seen, carried on by the monotonic clock, which is
// where `now` would be had it never gone back.
type clock struct {
	wallNow  func() time.Time // nil: the system clock, read through the monotonic one
	event    func(EventKind, time.Duration)
	maxJump  int64
	tickNs   int64
	start    time.Time // has the monotonic reading that elapsed time counts from
	origin   time.Time // the beginning of tick `base`, no monotonic reading
	base     int64
	anchor   atomic.Pointer[anchor]
	anchorMu sync.Mutex
	leapAt   atomic.Int64 // elapsed time at which a leap too large was seen; 0: none
	leapTo   atomic.Int64 // where it leapt to, as an offset
	lastWall atomic.Int64 // what wallNow last gave, from origin
}

// anchor says where the wall clock stands on the monotonic one: offsets in ns
// from clock.origin at an elapsed time of zero.
type anchor struct {
	wall, carried int64
	checkAt       int64 // elapsed time at which to look again
}

// newClock starts a clock at `at`, which carries a monotonic reading; `wall` is the
// wall clock's time, within the layout's.
func newClock(s *shape, now func() time.Time, at, wall time.Time, maxJump time.Duration, event func(EventKind, time.Duration)) *clock {
	c := &clock{wallNow: now, event: event, maxJump: int64(maxJump), tickNs: int64(s.layout.Tick), start: at}
	base := s.tickOf(wall)
	c.base, c.origin = int64(base), s.startOf(base)
	offset := c.sinceOrigin(wall)
	c.anchor.Store(&anchor{wall: offset, carried: offset})
	c.lastWall.Store(offset)
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
	wallNs, carriedNs := c.lines()
	now = c.tickAt(wallNs)
	if carriedNs <= wallNs {
		return now, now
	}
	return now, c.tickAt(carriedNs)
}

// lines gives both clocks in ns from the origin.
func (c *clock) lines() (wall, carried int64) {
	if c.wallNow != nil {
		return c.given()
	}
	elapsed := int64(time.Since(c.start))
	a := c.anchor.Load()
	if elapsed >= a.checkAt {
		a = c.reanchor(a)
	}
	return elapsed + a.wall, elapsed + a.carried
}

// given reads the clock that the Config gave. Of the anchor only the carried
// clock is in use.
func (c *clock) given() (wall, carried int64) {
	before := int64(time.Since(c.start))
	wall = c.sinceOrigin(c.wallNow())
	last := c.lastWall.Swap(wall)
	// After the wall clock, so that a pause makes it seem behind and never ahead.
	elapsed := int64(time.Since(c.start))
	if last-wall >= anchorNoise && elapsed-before < anchorNoise && c.leapAt.Load() == 0 { // else it may be a late reading, or a leap that was not followed
		c.event(ClockWentBack, time.Duration(last-wall))
	}
	a := c.anchor.Load()
	for {
		leap := wall - elapsed - a.carried
		if !c.follows(leap, wall-elapsed, elapsed) {
			return elapsed + a.carried, elapsed + a.carried
		}
		if leap <= 0 {
			break
		}
		next := &anchor{carried: wall - elapsed}
		if c.anchor.CompareAndSwap(a, next) {
			c.followed(leap)
			a = next
			break
		}
		a = c.anchor.Load()
	}
	return wall, elapsed + a.carried
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
	// best, and no reading puts ids ahead of the true wall clock. A step back
	// within anchorNoise is not followed, and leaves them ahead by as much.
	var wall, elapsed int64 = math.MinInt64, 0
	for range anchorReadings {
		t := time.Now()
		elapsed = int64(t.Sub(c.start))
		wall = max(wall, c.sinceOrigin(t)-elapsed)
	}
	next := &anchor{wall: old.wall, carried: old.carried, checkAt: elapsed + anchorEvery}
	leap := wall - old.carried
	switch back := old.wall - wall; {
	case !c.follows(leap, wall, elapsed): // stay on the old line
	case back >= anchorNoise:
		c.event(ClockWentBack, time.Duration(back))
		next.wall = wall
	case back < 0:
		next.wall, next.carried = wall, max(old.carried, wall)
		defer c.followed(leap)
	}
	c.anchor.Store(next)
	return next
}

// follows reports whether a wall clock that is `leap` ahead of the carried
// clock is to be believed: a leap beyond MaxJump only when it has lasted. It is
// asked at every reading, so that a leap that is gone is forgotten.
func (c *clock) follows(leap, offset, elapsed int64) bool {
	if leap <= c.maxJump {
		if c.leapAt.Load() != 0 {
			c.leapAt.Store(0)
		}
		return true
	}
	since := c.leapAt.Load()
	if other := offset - c.leapTo.Load(); since == 0 || other > c.maxJump || other < -c.maxJump {
		if c.leapAt.CompareAndSwap(since, max(elapsed, 1)) {
			c.leapTo.Store(offset)
			c.event(ClockLeapt, time.Duration(leap))
		}
		return false
	}
	return elapsed-since >= leapLasts
}

// followed is called when the anchor has taken a leap in.
func (c *clock) followed(leap int64) {
	if leap > c.maxJump {
		c.leapAt.Store(0)
		c.event(LeapFollowed, time.Duration(leap))
	}
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
	at, carried := c.lines()
	if !byWall {
		at = max(at, carried)
	}
	ticks := int64(tick) - c.base
	if ticks > math.MaxInt64/2/c.tickNs {
		return math.MaxInt64 / 2
	}
	return time.Duration(max(ticks*c.tickNs-at, 0))
}
