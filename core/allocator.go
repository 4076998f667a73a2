package core

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// SequenceStart says with which sequence number a new tick begins. The ids of an idle
// generator are mostly the first of their tick: with SequenceZero all of these are even, and
// id modulo the number of shards hits only a few shards.
type SequenceStart uint8

// Where the sequence begins. SequenceCarry and SequenceRandom begin in the lower half of the
// range, so that every tick still has at least half of its ids.
const (
	SequenceZero   SequenceStart = iota // at 0
	SequenceCarry                       // where the last tick's ended
	SequenceRandom                      // anywhere
)

// String returns "Zero", "Carry" or "Random".
func (s SequenceStart) String() string {
	if s > SequenceRandom {
		return "SequenceStart out of range"
	}
	return [...]string{"Zero", "Carry", "Random"}[s]
}

// first returns the sequence number that begins a tick.
func (s SequenceStart) first(cursor, sequenceMax uint64) uint64 {
	switch s {
	case SequenceCarry:
		return cursor & (sequenceMax >> 1)
	case SequenceRandom:
		return rand.Uint64() & (sequenceMax >> 1)
	}
	return 0
}

// closedCursor is the cursor of a closed allocator. No slot reaches it.
const closedCursor = math.MaxUint64

// shared is what all allocators of a generator have in common.
type shared struct {
	layout   *compiledLayout
	policy   compiledPolicy
	sequence SequenceStart
	clock    *clock
	counters counters
}

// An allocator allocates slots under one grant and one value of the roll-back field. A slot,
// tick<<SequenceBits | sequence, becomes one id. The cursor is the next slot: it only rises.
type allocator struct {
	*shared
	grant        *Grant
	rollback     uint64
	base         uint64 // the worker ID and the roll-back value at their places in the id
	sequenceMax  uint64 // the layout's, and its shifts: here they are read faster
	tickShift    uint8  // from a tick's place in a slot to that in an id
	seqShift     uint8
	grantOffset  int64  // of a clock that showed the grant's first tick when that was ahead; see limit
	first        uint64 // the cursor at the beginning
	maxAhead     uint64 // ticks that ids may be ahead of the clock
	unused       *unusedSlots
	lossReported atomic.Bool

	_      [64]byte // the cursor has a cache line of its own
	cursor atomic.Uint64
	_      [56]byte
	reused atomic.Uint64 // slots of unused that were issued
	known  knownTick

	closeOnce sync.Once
	final     uint64 // the cursor at the end
}

// newAllocator begins at the tick first, or at the grant's first if that is later, and never
// at tick 0: so there is always a slot before the first.
func newAllocator(s *shared, grant *Grant, rollback, first uint64) *allocator {
	a := &allocator{
		shared: s, grant: grant, rollback: rollback, grantOffset: noOffset,
		base:        rollback<<s.layout.rollbackShift | uint64(grant.worker)<<s.layout.workerShift,
		sequenceMax: s.layout.sequenceMax,
		tickShift:   uint8(s.layout.timeShift - uint(s.layout.SequenceBits)), seqShift: uint8(s.layout.sequenceShift),
	}
	if grant.hasFence {
		a.maxAhead = uint64(s.policy.maxAhead / s.layout.Tick)
	}
	if s.policy.kind == policyReuse {
		a.unused = newUnusedSlots(uint64(s.policy.window / s.layout.Tick))
	}
	a.first = s.layout.firstSlot(max(first, grant.first, 1))
	a.cursor.Store(a.first)
	return a
}

// startClock gives an allocator that is not in use yet the grant clock: an inherited one, or
// one that shows the grant's first tick now, if that is ahead of the other clocks.
func (a *allocator) startClock(inherited int64) {
	a.grantOffset = inherited
	if a.policy.kind == policyDetached {
		return
	}
	if _, maxTick := a.limits(); a.grant.first > maxTick {
		a.grantOffset = a.clock.offsetNow(a.grant.first)
	}
}

// raiseFirst makes an allocator that is not in use yet begin no earlier than at a tick.
func (a *allocator) raiseFirst(tick uint64) {
	a.grant.mu.Lock() // Grant.Close compares first with final
	defer a.grant.mu.Unlock()
	if slot := a.layout.firstSlot(tick); slot > a.first && a.cursor.Load() != closedCursor {
		a.first = slot
		a.cursor.Store(slot)
	}
}

// takeKnown allocates want slots of the known tick and returns the first one, without reading
// the clock. It reports false if take must do so.
//
// The limit is below the fence. A fence only rises, or becomes 0 when the grant is revoked.
func (a *allocator) takeKnown(want uint64) (from uint64, ok bool) {
	k := &a.known
	for {
		length, start := k.length.Load(), k.start.Load()
		if length == 0 || readCounter()-start >= length {
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

// take allocates up to want slots and returns the first one. It returns n == 0 if there is
// none at present. It reads the clock, and finds out how long the tick lasts.
func (a *allocator) take(want uint64) (from, n uint64) {
	if want <= knownSlots {
		if count, ok := a.clock.counter.begin(); ok {
			defer a.clock.counter.end() // also after a panic of the Observer
			from, n, at, last := a.takeByClock(want)
			a.know(count, at, from, n, last)
			return from, n
		}
	}
	from, n, _, _ = a.takeByClock(want)
	return from, n
}

// know records how long the tick lasts that the clock showed when the counter was at count.
// After the n slots from from, those to the end of the tick last may be issued in it.
func (a *allocator) know(count uint64, at clockReading, from, n, last uint64) {
	end := a.clock.startOf(a.clock.tickAt(at.wall) + 1)
	length := a.clock.counter.countsIn(end-at.wall, count, at.elapsed)
	if n == 0 {
		length = 0
	}
	limit := min(from+n+knownSlots, last<<a.layout.SequenceBits|a.layout.sequenceMax)
	a.known.set(count, length, limit)
}

// takeByClock is take, and returns the reading of the clock and the last tick that it allows.
//
// The swap makes this safe: it succeeds only if the cursor has not moved since it was loaded,
// and never lowers it. A goroutine that pauses after reading the clock finds the cursor ahead
// of its reading, and allocates from there; if such an old reading forbids a slot, await looks
// again.
func (a *allocator) takeByClock(want uint64) (from, n uint64, at clockReading, last uint64) {
	l := a.layout
	bits := l.SequenceBits
	cursor := a.cursor.Load()
	at, now, maxTick := a.readLimits()
	for {
		last = a.lastTick(maxTick)
		if now > last { // also after the end of the layout
			return 0, 0, at, last
		}
		from = cursor
		if clock := now << bits; clock > cursor {
			from = clock + a.sequence.first(cursor, l.sequenceMax)
		}
		tick := from >> bits
		if tick > last { // always so if the cursor is closed
			return 0, 0, at, last
		}
		n = want
		if want > 1 {
			n = min(want, (last-tick+1)<<bits-from&l.sequenceMax)
		}
		skip := from - cursor
		if skip > 0 {
			a.counters.skipped.Add(skip) // before the swap, so that Stats never counts too many ids
		}
		if a.cursor.CompareAndSwap(cursor, from+n) {
			if skip > 0 && a.unused != nil {
				a.unused.add(cursor, from, a.oldestUnused(tick)<<bits)
			}
			return from, n, at, last
		}
		if skip > 0 {
			a.counters.skipped.Add(-skip)
		}
		// Another core has the cursor's cache line. To pass that back and forth for each id
		// costs more than the id. So let the other core continue for a while. Then read the
		// clock first, which leaves the other less time to come between.
		a.clock.backOff()
		at, now, maxTick = a.readLimits()
		cursor = a.cursor.Load()
	}
}

// lastTick returns the last tick in which ids may be issued, if the clock allows maxTick. It
// is the one place that compares ids with the fence.
func (a *allocator) lastTick(maxTick uint64) uint64 {
	last := min(maxTick+a.maxAhead, a.layout.lastTick)
	if fence := a.grant.fence.Load(); fence <= last {
		if fence == 0 {
			return 0 // revoked; no id is issued in tick 0
		}
		last = fence - 1
	}
	return last
}

// limits returns the present tick, and the last one that the clock allows.
func (a *allocator) limits() (now, maxTick uint64) {
	_, now, maxTick = a.readLimits()
	return now, maxTick
}

func (a *allocator) readLimits() (at clockReading, now, maxTick uint64) {
	if a.policy.kind == policyDetached {
		return at, 0, a.layout.lastTick
	}
	at = a.clock.read()
	now = a.clock.tickAt(at.wall)
	if limit := a.limit(at); limit != at.wall {
		return at, now, a.clock.tickAt(limit)
	}
	return at, now, now
}

// limit returns the time up to which ids are issued without running ahead: the highest of the
// wall clock, the hybrid clock if the ClockPolicy uses it, and the grant clock, which runs
// from the grant's first tick with the monotonic clock.
func (a *allocator) limit(at clockReading) int64 {
	wall := at.wall
	if a.policy.hybrid {
		wall = max(wall, at.hybrid)
	}
	return max(wall, at.elapsed+a.grantOffset)
}

// timeUntil returns how long it takes until the limit reaches a tick.
func (a *allocator) timeUntil(tick uint64) time.Duration {
	limit := a.limit(a.clock.read())
	return time.Duration(max(a.clock.startOf(tick)-limit, 0))
}

// oldestUnused returns the first tick of Reuse's window before a tick.
func (a *allocator) oldestUnused(tick uint64) uint64 {
	return tick - min(uint64(a.policy.window/a.layout.Tick), tick)
}

// id returns the id of a slot. (No shift exceeds 63; said so, it is several times as fast.)
func (a *allocator) id(slot uint64) int64 {
	sequence := slot & a.sequenceMax
	return int64((slot-sequence)<<(a.tickShift&63) | sequence<<(a.seqShift&63) | a.base)
}

func (a *allocator) startOf(tick uint64) time.Time { return a.layout.startOf(tick) }

// close ends the allocator and returns the first tick in which it has not issued. A goroutine
// that finds the closed cursor issues nothing.
func (a *allocator) close() (unused uint64) {
	a.closeOnce.Do(func() {
		a.final = a.cursor.Swap(closedCursor)
		if a.unused != nil {
			a.unused.close()
		}
	})
	return (a.final-1)>>a.layout.SequenceBits + 1
}

func (a *allocator) issued() bool { return a.final != a.first }

// next returns the cursor, or where it was when the allocator was closed.
func (a *allocator) next() uint64 {
	if cursor := a.cursor.Load(); cursor != closedCursor {
		return cursor
	}
	a.close() // waits for the goroutine that closes it
	return a.final
}

// passed returns how many slots the cursor has passed, plus those of them issued later.
func (a *allocator) passed() uint64 { return a.next() - a.first + a.reused.Load() }
