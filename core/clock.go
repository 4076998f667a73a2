package core

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// noOffset is an offset so low that it never limits anything.
const noOffset int64 = math.MinInt64 / 2

const (
	anchorEvery    = int64(time.Second)      // how long the monotonic clock alone is trusted
	anchorReadings = 5                       // readings per comparison, of which the best counts
	anchorNoise    = int64(time.Millisecond) // a smaller step back is ignored: it may be a pause between two readings
)

// clock reads two clocks, in nanoseconds from origin or in ticks of a layout. The wall clock
// is the system's, or Config.Now. The hybrid clock is the highest wall clock seen, advanced by
// the monotonic clock: it shows what the wall clock would, had it never stepped back.
type clock struct {
	custom   func() time.Time // Config.Now; nil: the system clock, read through the monotonic clock
	event    func(EventKind, time.Duration)
	fence    func(ns int64) (has, allows bool) // whether there is a fence, and allows ids with a time; nil: there is none
	maxJump  int64
	tickNs   int64
	plain    bool      // ticks are milliseconds, and no countable one exceeds 64 bits
	start    time.Time // with a monotonic reading; elapsed times count from here
	origin   time.Time // the beginning of tick base, without a monotonic reading
	base     uint64
	anchor   atomic.Pointer[anchor] // of the system clock
	anchorMu sync.Mutex
	jump     jumpDetector
	lastWall atomic.Int64 // custom's last reading
	accepted atomic.Int64 // the offset of its last accepted reading
	hybrid   atomic.Int64 // the greatest accepted offset
	counter  counter
}

// clockReading is a reading of all clocks: the elapsed time, and the wall clock and the hybrid
// clock then in nanoseconds from origin.
type clockReading struct{ elapsed, wall, hybrid int64 }

// anchor relates both clocks to the monotonic one: their offsets, in nanoseconds from origin
// at an elapsed time of zero.
type anchor struct {
	wall, hybrid int64
	checkAt      int64 // the elapsed time of the next comparison
}

// newClock starts a clock. at has a monotonic reading; wall is the wall clock's time then,
// within the layout's.
func newClock(l *compiledLayout, custom func() time.Time, at, wall time.Time, maxJump time.Duration, event func(EventKind, time.Duration)) *clock {
	c := &clock{custom: custom, event: event, maxJump: int64(maxJump), tickNs: int64(l.Tick), start: at}
	c.base = l.tickOf(wall)
	c.plain = c.tickNs == int64(time.Millisecond) && c.base <= math.MaxUint64-math.MaxInt64/uint64(time.Millisecond)
	c.origin = l.startOf(c.base)
	offset := c.sinceOrigin(wall)
	c.anchor.Store(&anchor{wall: offset, hybrid: offset})
	c.lastWall.Store(offset)
	c.accepted.Store(offset)
	c.hybrid.Store(offset)
	c.counter.machine, c.counter.start, c.counter.next, c.counter.event = platform{}, at, firstEvery, event
	c.counter.off.Store(custom != nil)
	return c
}

// sinceOrigin returns the nanoseconds from origin to a wall clock time, at most 146 years, so
// that sums cannot overflow.
func (c *clock) sinceOrigin(wall time.Time) int64 {
	return min(max(int64(wall.Round(0).Sub(c.origin)), math.MinInt64/2), math.MaxInt64/2)
}

func (c *clock) read() clockReading {
	if c.custom != nil {
		return c.readCustom()
	}
	elapsed := int64(time.Since(c.start))
	a := c.anchor.Load()
	if elapsed >= a.checkAt {
		a = c.reanchor(a)
	}
	return clockReading{elapsed, elapsed + a.wall, elapsed + a.hybrid}
}

// readCustom is read for a Config.Now, which needs no anchor.
func (c *clock) readCustom() clockReading {
	before := int64(time.Since(c.start))
	wall := c.sinceOrigin(c.custom())
	last := c.lastWall.Swap(wall)
	// After the wall clock: then a pause makes that seem behind, never ahead.
	elapsed := int64(time.Since(c.start))
	// A late reading is behind by no more than it took. A reading after an ignored jump is no
	// step back either.
	if step := last - wall; step >= anchorNoise && step > elapsed-before && !c.jump.pending.Load() {
		c.event(ClockStepBack, time.Duration(step))
	}
	offset := wall - elapsed
	for {
		hybrid := c.hybrid.Load()
		jump := offset - hybrid
		if !c.accepts(jump, offset, elapsed) {
			return clockReading{elapsed, elapsed + c.accepted.Load(), elapsed + hybrid}
		}
		if jump > 0 {
			if !c.hybrid.CompareAndSwap(hybrid, offset) {
				continue
			}
			c.reportAccepted(jump)
			hybrid = offset
		}
		c.accepted.Store(offset)
		return clockReading{elapsed, wall, elapsed + hybrid}
	}
}

// reanchor compares the system clock with the monotonic one. One goroutine does so; meanwhile
// the others use the old anchor.
func (c *clock) reanchor(old *anchor) *anchor {
	if !c.anchorMu.TryLock() {
		return old
	}
	defer c.anchorMu.Unlock()
	if a := c.anchor.Load(); a != old {
		return a
	}
	// time.Now reads the wall clock first, so a pause makes the difference too small and never too
	// large: no reading puts ids ahead of the true wall clock. So the greatest counts. (A step back
	// below anchorNoise is ignored, and leaves them ahead by that much.)
	var elapsed int64
	wall := int64(math.MinInt64)
	for range anchorReadings {
		t := time.Now()
		elapsed = int64(t.Sub(c.start))
		wall = max(wall, c.sinceOrigin(t)-elapsed)
	}
	next := &anchor{wall: old.wall, hybrid: old.hybrid, checkAt: elapsed + anchorEvery}
	jump := wall - old.hybrid
	switch back := old.wall - wall; {
	case !c.accepts(jump, wall, elapsed): // keep the old offsets
	case back >= anchorNoise:
		c.event(ClockStepBack, time.Duration(back))
		next.wall = wall
	case back < 0:
		next.wall, next.hybrid = wall, max(old.hybrid, wall)
		defer c.reportAccepted(jump)
	}
	c.anchor.Store(next)
	return next
}

// accepts reports whether to follow a wall clock that is ahead of the hybrid clock by jump. One to
// below the fence is followed: whoever raised the fence has confirmed it. One beyond the fence is
// ignored, because ids could not follow it. Without a fence, a jump of more than MaxJump must
// persist first.
func (c *clock) accepts(jump, offset, elapsed int64) bool {
	fenced, covered := false, true
	if jump > 0 && c.fence != nil {
		fenced, covered = c.fence(elapsed + offset)
	}
	if jump <= c.maxJump || fenced && covered {
		if c.jump.pending.Load() {
			c.jump.pending.Store(false) // it forgets the jump: the clock shows an acceptable time
		}
		return covered
	}
	persists, first := c.jump.sight(offset, elapsed, c.maxJump)
	if first {
		c.event(ClockJump, time.Duration(jump))
	}
	return persists && !fenced
}

// reportAccepted is called when the hybrid clock has followed a jump.
func (c *clock) reportAccepted(jump int64) {
	if jump > c.maxJump {
		c.event(ClockJumpAccepted, time.Duration(jump))
	}
}

// tickAt returns the tick at ns from origin. A time before the epoch counts as tick 0.
func (c *clock) tickAt(ns int64) uint64 {
	if ns >= 0 && c.plain {
		return c.base + uint64(ns)/uint64(time.Millisecond) // a constant divisor is several times as fast
	}
	return c.anyTickAt(ns) // a separate function, so that the rest is inlined
}

func (c *clock) anyTickAt(ns int64) uint64 {
	if ns < 0 {
		before := uint64((-ns + c.tickNs - 1) / c.tickNs)
		return c.base - min(before, c.base)
	}
	ticks := uint64(ns / c.tickNs)
	if sum := c.base + ticks; sum >= ticks {
		return sum
	}
	return math.MaxUint64
}

// startOf returns the beginning of a tick in nanoseconds from origin, at most 146 years.
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

// backOff spins for some microseconds. It counts its readings too, in case the clock does not
// advance.
func (c *clock) backOff() {
	const most, reads = 8 * time.Microsecond, 400
	began := time.Since(c.start)
	for range reads {
		if time.Since(c.start)-began >= most {
			return
		}
	}
}

const (
	jumpPersists  = int64(10 * time.Second) // how long a large jump must persist before it is accepted,
	jumpSightings = 3                       // how often it must be seen,
	sightingEvery = int64(time.Second)      // and how far apart these sightings are
)

// jumpDetector remembers a jump ahead that is too large to be accepted at once. It is asked at
// every reading, so that it forgets a jump that is taken back. Two jumps with few readings in
// between look like one that has persisted: hence the number of sightings.
type jumpDetector struct {
	pending atomic.Bool // whether there is such a jump: the fast path reads nothing else

	mu        sync.Mutex
	at        int64 // the elapsed time of the first sighting
	offset    int64 // what the clock jumped to
	sightings int
	next      int64 // the elapsed time from which another sighting counts
}

// sight records a sighting. It reports whether the jump has persisted, and whether this is
// its first sighting.
func (j *jumpDetector) sight(offset, elapsed, maxJump int64) (persists, first bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if d := offset - j.offset; !j.pending.Load() || d > maxJump || d < -maxJump {
		j.at, j.offset, j.sightings, j.next = elapsed, offset, 1, elapsed+sightingEvery
		j.pending.Store(true)
		return false, true
	}
	if elapsed >= j.next {
		j.sightings++
		j.next = elapsed + sightingEvery
	}
	return elapsed-j.at >= jumpPersists && j.sightings >= jumpSightings, false
}

// platform is what the operating system and the processor offer. A file for one of them, such as
// counter_linux.go, declares methods of platform, which hide those of portable. It may be removed,
// as for a platform without such a file.
type platform struct{ portable }

// portable has no counter, and sleeps as precisely as Go's timers.
type portable struct{}

func (portable) readCounter() uint64 { return 0 }

func (portable) counterIsClock() bool { return false }

func (portable) sleepPrecisely(d time.Duration) bool {
	time.Sleep(d)
	return true
}
