// The processor's counter saves most readings of the clock. In benchmarks/README.md an id takes 11.1 ns,
// and a reading of the clock alone 25.3 ns.

package core

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	knownSlots     = 256                          // the most ids between two readings of the clock
	longestKnown   = int64(time.Millisecond)      // how long after a reading ids are issued without another
	firstEvery     = int64(time.Millisecond)      // the time between two comparisons with the clock, before trust
	compareEvery   = int64(10 * time.Millisecond) // the same, while the counter is trusted
	sourceEvery    = int64(time.Minute)           // the time between two looks at the machine's clock source
	longestReading = int64(5 * time.Microsecond)  // a comparison that takes longer was interrupted
	backNoise      = 10 * time.Microsecond        // a smaller step back is ignored: a processor may read its counter early
	tolerance      = int64(time.Millisecond)      // counter and clock may differ by this, plus 1/512 of the time compared
	lowestRate     = 0.001                        // counts per nanosecond: a counter of 1 MHz
	highestRate    = 20
)

// knownTick is the tick that the clock has shown last. The processor's counter tells when it
// ends. Until then ids need no reading of the clock.
//
// Only the time of an id depends on knownTick: the cursor alone keeps slots unique and ascending.
// The counter may be wrong, and a reader may see a mix of two known ticks while another goroutine
// stores one. The worst that follows is an id whose time is old.
type knownTick struct {
	start  atomic.Uint64 // the counter, read just before the clock
	length atomic.Uint64 // counts from start to the end of the tick; 0: no tick is known
	limit  atomic.Uint64 // the first slot that needs a reading of the clock
}

// takeKnown allocates want slots of the known tick and returns the first one, without reading
// the clock. It reports false if the clock must be read: then call take.
//
// It only checks that the grant is not revoked. The fence need not be compared again: the limit
// is below it, and a fence only rises, or becomes 0 when the grant is revoked.
func (a *allocator) takeKnown(want uint64) (from uint64, ok bool) {
	k := &a.known
	for {
		length, start := k.length.Load(), k.start.Load()
		if length == 0 || (platform{}).readCounter()-start >= length {
			return 0, false
		}
		from = a.cursor.Load()
		if limit := k.limit.Load(); from >= limit || limit-from < want || a.grant.fence.Load() == 0 {
			return 0, false
		}
		if a.cursor.CompareAndSwap(from, from+want) {
			return from, true
		}
		a.clock.backOff() // see takeByClock
	}
}

// take allocates up to want slots and returns the first one, and how many (n). It returns n == 0
// if there is none at present. It reads the clock, and records the known tick.
func (a *allocator) take(want uint64) (from, n uint64) {
	c := &a.clock.counter
	if want > knownSlots || c.off.Load() || !c.mu.TryLock() {
		from, n, _, _ = a.takeByClock(want)
		return from, n
	}
	defer c.mu.Unlock() // also after a panic of the Observer
	var count uint64
	if c.readable {
		count = c.machine.readCounter()
	}
	from, n, at, last := a.takeByClock(want)
	a.recordTick(count, at, from, n, last)
	return from, n
}

// recordTick records the known tick: the one that the clock showed, in the reading at, just after the
// counter was at count. After the n slots from from, up to knownSlots more may be issued in it, but
// none after the tick last.
func (a *allocator) recordTick(count uint64, at clockReading, from, n, last uint64) {
	end := a.clock.startOf(a.clock.tickAt(at.wall) + 1)
	length := a.clock.counter.countsIn(end-at.wall, count, at.elapsed)
	if n == 0 {
		length = 0
	}
	a.known.start.Store(count)
	a.known.limit.Store(min(from+n+knownSlots, last<<a.layout.SequenceBits|a.layout.sequenceMax))
	a.known.length.Store(length)
}

// counter is the processor's counter. It is trusted once two measurements of its rate in
// succession agree. It is rejected for good when it runs backwards, when it disagrees with the
// monotonic clock twice in a row, and when the machine's clock is another one.
type counter struct {
	machine machine
	start   time.Time // clock.start: elapsed times count from here
	event   func(EventKind, time.Duration)
	off     atomic.Bool // never used, or no longer
	trusted atomic.Bool // changed under mu

	mu         sync.Mutex // held by the goroutine that calibrates
	readable   bool       // the machine's clock is the counter, so it may be read
	disagreed  bool       // at the last comparison
	last       uint64     // the last reading
	count      uint64     // the reading at the last comparison
	elapsed    int64      // the elapsed time at the last comparison
	rate       float64    // counts per nanosecond; 0: unknown
	next       int64      // the elapsed time of the next comparison
	nextSource int64      // the elapsed time of the next look at the clock source
}

// machine has a counter: it is platform, except in tests.
type machine interface {
	readCounter() uint64
	counterIsClock() bool // whether the machine itself takes the time from it
}

// countsIn returns how many counts the next ns nanoseconds take, at most those of longestKnown.
// count is a reading of the counter, and elapsed one of the clock after it. It returns 0 while
// the counter is not trusted.
func (c *counter) countsIn(ns int64, count uint64, elapsed int64) uint64 {
	if c.trusted.Load() {
		if back := float64(int64(c.last-count)) / c.rate; back > float64(backNoise) {
			c.stop(time.Duration(min(back, math.MaxInt64/2)))
			return 0
		}
	}
	c.last = count
	if elapsed >= c.next {
		c.compare(elapsed)
	}
	if !c.trusted.Load() || c.disagreed || ns <= 0 {
		return 0
	}
	return uint64(float64(min(ns, longestKnown)) * c.rate)
}

// compare compares the counter with the monotonic clock: it measures the rate since the last
// comparison, and begins or ends trust.
func (c *counter) compare(elapsed int64) {
	if elapsed >= c.nextSource || c.disagreed {
		if !c.machine.counterIsClock() {
			c.stop(0)
			return
		}
		c.readable = true
		c.nextSource = elapsed + sourceEvery
	}
	before := int64(time.Since(c.start))
	count := c.machine.readCounter()
	after := int64(time.Since(c.start))
	if after == before { // a clock that does not advance, as in a bubble of testing/synctest
		c.stop(0)
		return
	}
	if after-before > longestReading {
		return // a pause
	}
	counts, ns := float64(count-c.count), float64(before-c.elapsed)
	rate, drift := counts/ns, math.Abs(counts/c.rate-ns) // drift is infinite or NaN without a rate
	first, agrees := c.elapsed == 0, drift <= ns/512
	c.last, c.count, c.elapsed, c.next = count, count, before, before+compareEvery
	switch {
	case first: // there is nothing to compare with
		c.next = before + firstEvery
	case !c.trusted.Load():
		c.rate = rate
		if agrees && rate >= lowestRate && rate <= highestRate {
			c.trusted.Store(true)
		} else {
			c.next = before + firstEvery
		}
	case agrees:
		c.disagreed, c.rate = false, rate
	case drift <= float64(tolerance)+ns/512:
		c.disagreed = false
	case c.disagreed: // twice in a row
		c.stop(time.Duration(min(drift, math.MaxInt64/2)))
	default:
		c.disagreed = true // keep the rate: the counter may have jumped just once
	}
}

// stop rejects the counter for good. It reports this only of a trusted counter, which may have
// been wrong by d.
func (c *counter) stop(d time.Duration) {
	c.off.Store(true)
	if c.trusted.Swap(false) {
		c.event(CounterRejected, d)
	}
}
