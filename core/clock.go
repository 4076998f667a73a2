package core

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// noLine is an offset so low that it never counts.
const noLine int64 = math.MinInt64 / 2

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
	event    func(EventKind, time.Duration)
	covers   func(ns int64) bool // whether ids may carry a time; nil: any
	maxJump  int64
	tickNs   int64
	plain    bool      // ticks are milliseconds, and none that can be counted is beyond 64 bits
	start    time.Time // has the monotonic reading that elapsed time counts from
	origin   time.Time // the beginning of tick `base`, no monotonic reading
	base     uint64
	anchor   atomic.Pointer[anchor]
	anchorMu sync.Mutex
	leap     leap
	lastWall atomic.Int64 // what wallNow last gave, from origin
	believed atomic.Int64 // the offset of what it last gave that was believed
	carried  atomic.Int64 // the highest of those
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
	c.base = s.tickOf(wall)
	c.plain = c.tickNs == int64(time.Millisecond) && c.base <= math.MaxUint64-math.MaxInt64/uint64(time.Millisecond)
	c.origin = s.startOf(c.base)
	offset := c.sinceOrigin(wall)
	c.anchor.Store(&anchor{wall: offset, carried: offset})
	c.lastWall.Store(offset)
	c.believed.Store(offset)
	c.carried.Store(offset)
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
	_, wallNs, carriedNs := c.lines()
	now = c.tickAt(wallNs)
	if carriedNs <= wallNs {
		return now, now
	}
	return now, c.tickAt(carriedNs)
}

// lines gives both clocks in ns from the origin, and the elapsed time at which
// they stand there.
func (c *clock) lines() (elapsed, wall, carried int64) {
	if c.wallNow != nil {
		return c.given()
	}
	elapsed = int64(time.Since(c.start))
	a := c.anchor.Load()
	if elapsed >= a.checkAt {
		a = c.reanchor(a)
	}
	return elapsed, elapsed + a.wall, elapsed + a.carried
}

// given reads the clock that the Config gave. It has no anchor.
func (c *clock) given() (elapsed, wall, carried int64) {
	before := int64(time.Since(c.start))
	wall = c.sinceOrigin(c.wallNow())
	last := c.lastWall.Swap(wall)
	// After the wall clock, so that a pause makes it seem behind and never ahead.
	elapsed = int64(time.Since(c.start))
	// A reading that comes late is behind by no more than it took, and after a leap
	// that was not followed it is no step.
	if step := last - wall; step >= anchorNoise && step > elapsed-before && !c.leap.seen.Load() {
		c.event(ClockStepBack, time.Duration(step))
	}
	offset := wall - elapsed
	for {
		carried = c.carried.Load()
		leap := offset - carried
		if !c.follows(leap, offset, elapsed) {
			return elapsed, elapsed + c.believed.Load(), elapsed + carried
		}
		if leap <= 0 {
			break
		}
		if c.carried.CompareAndSwap(carried, offset) {
			c.followed(leap)
			carried = offset
			break
		}
	}
	c.believed.Store(offset)
	return elapsed, wall, elapsed + carried
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
	var elapsed int64
	wall := greatestOf(anchorReadings, func() int64 {
		t := time.Now()
		elapsed = int64(t.Sub(c.start))
		return c.sinceOrigin(t) - elapsed
	})
	next := &anchor{wall: old.wall, carried: old.carried, checkAt: elapsed + anchorEvery}
	leap := wall - old.carried
	switch back := old.wall - wall; {
	case !c.follows(leap, wall, elapsed): // stay on the old line
	case back >= anchorNoise:
		c.event(ClockStepBack, time.Duration(back))
		next.wall = wall
	case back < 0:
		next.wall, next.carried = wall, max(old.carried, wall)
		defer c.followed(leap)
	}
	c.anchor.Store(next)
	return next
}

// greatestOf is the best of n readings of wall minus elapsed time. time.Now reads
// the wall clock first, so a pause between its two reads makes the difference
// too small and never too large, and no reading puts ids ahead of the true wall
// clock. (A step back within anchorNoise is not followed, and leaves them ahead
// by as much.)
func greatestOf(n int, read func() int64) int64 {
	best := read()
	for range n - 1 {
		best = max(best, read())
	}
	return best
}

// follows reports whether a wall clock that is `leap` ahead of the carried
// clock is to be believed: one beyond MaxJump only when it has lasted, and none
// beyond the fence, where ids could not follow. Until the fence is raised, ids
// continue on the carried clock.
func (c *clock) follows(leap, offset, elapsed int64) bool {
	covered := leap <= 0 || c.covers == nil || c.covers(elapsed+offset)
	if leap <= c.maxJump {
		c.leap.forget()
		return covered
	}
	lasted, first := c.leap.lasts(offset, elapsed, c.maxJump)
	if first {
		c.event(ClockJump, time.Duration(leap))
	}
	return lasted && covered
}

// followed is called when the anchor has taken a leap in.
func (c *clock) followed(leap int64) {
	if leap > c.maxJump {
		c.event(ClockJumpAccepted, time.Duration(leap))
	}
}

// tickAt is the tick that lies ns after the origin; a time before the epoch
// counts as tick 0.
func (c *clock) tickAt(ns int64) uint64 {
	if ns >= 0 && c.plain {
		return c.base + uint64(ns)/uint64(time.Millisecond) // a constant divisor is several times as fast
	}
	return c.anyTickAt(ns) // apart, so that the rest is inlined
}

func (c *clock) anyTickAt(ns int64) uint64 {
	if ns >= 0 {
		return c.after(uint64(ns / c.tickNs))
	}
	before := uint64((-ns + c.tickNs - 1) / c.tickNs)
	return c.base - min(before, c.base)
}

// after is the tick so many after the base, or the last that can be said.
func (c *clock) after(ticks uint64) uint64 {
	if sum := c.base + ticks; sum >= ticks {
		return sum
	}
	return math.MaxUint64
}

// startOf is where a tick begins, in ns from the origin; at most 146 years.
func (c *clock) startOf(tick uint64) int64 {
	most := uint64(math.MaxInt64 / 2 / c.tickNs)
	if tick < c.base {
		if c.base-tick > most {
			return math.MinInt64 / 2
		}
		return -int64(c.base-tick) * c.tickNs
	}
	if tick-c.base > most {
		return math.MaxInt64 / 2
	}
	return int64(tick-c.base) * c.tickNs
}

// reaches reports whether the clock can count as far as a tick.
func (c *clock) reaches(tick uint64) bool { return c.startOf(tick) < math.MaxInt64/2 }

// lineFrom is the offset of a line that stands at the beginning of a tick now.
func (c *clock) lineFrom(tick uint64) int64 {
	return c.startOf(tick) - int64(time.Since(c.start))
}

// backOff lets some microseconds pass. The reads are counted as well, for a
// clock that stands still.
func (c *clock) backOff() {
	const most, reads = 4 * time.Microsecond, 200
	began := time.Since(c.start)
	for range reads {
		if time.Since(c.start)-began >= most {
			return
		}
	}
}
