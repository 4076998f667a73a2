package core

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// SequenceStart says with which sequence number a new tick begins. It matters if rows are
// sharded by id modulo the number of shards. The ids of a generator that is seldom used are
// mostly the first of their tick. With SequenceZero these are all even, and reach only a few
// shards. The shards of package shard do not depend on it.
type SequenceStart uint8

// Where the sequence begins. SequenceCarry and SequenceRandom begin in the lower half of the
// range, so that every tick keeps at least half of its ids.
const (
	SequenceZero   SequenceStart = iota // at 0
	SequenceCarry                       // where the last tick ended
	SequenceRandom                      // at a random number
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

// shared holds what all allocators of a generator share.
type shared struct {
	layout   *compiledLayout
	policy   compiledPolicy
	sequence SequenceStart
	clock    *clock
	counters counters
}

// An allocator allocates slots under one grant and one value of the roll-back field. A slot is
// tick<<SequenceBits | sequence, and becomes one id. The cursor is the next slot. It only rises.
type allocator struct {
	*shared
	grant        *Grant
	rollback     uint64
	base         uint64 // the worker ID and the roll-back value at their places in an id
	sequenceMax  uint64 // a copy of the layout's, which is read faster here
	tickShift    uint8  // moves a tick from its place in a slot to its place in an id
	seqShift     uint8  // the same for a sequence number
	grantOffset  int64  // the offset of the grant clock, see limit
	first        uint64 // the first slot
	maxAhead     uint64 // how many ticks ids may be ahead of the clock
	unused       *unusedSlots
	lossReported atomic.Bool

	_      [64]byte // the cursor has a cache line of its own
	cursor atomic.Uint64
	_      [56]byte
	reused atomic.Uint64 // slots of unused that were issued
	known  knownTick

	_     [64]byte // the fast path reads what is before this, and writes nothing of the queue
	queue queue
}

// newAllocator returns an allocator that begins at the tick first, or at the grant's first tick
// if that is later. It never begins at tick 0, so there is always a slot before the first one.
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

// startClock starts the grant clock of an allocator that is not in use yet. If the grant's first
// tick is ahead of all clocks, the grant clock shows that tick now. Otherwise the allocator
// keeps the inherited grant clock.
func (a *allocator) startClock(inherited int64) {
	a.grantOffset = inherited
	if a.policy.kind == policyDetached {
		return
	}
	if _, maxTick := a.limits(); a.grant.first > maxTick {
		a.grantOffset = a.clock.offsetNow(a.grant.first)
	}
}

// raiseFirst makes an allocator that is not in use yet begin no earlier than at tick.
func (a *allocator) raiseFirst(tick uint64) {
	a.grant.mu.Lock() // Grant.Close compares first with final
	defer a.grant.mu.Unlock()
	if slot := a.layout.firstSlot(tick); slot > a.first && a.cursor.Load() != closedCursor {
		a.first = slot
		a.cursor.Store(slot)
	}
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

// take allocates up to want slots and returns the first one, and how many (n). It returns n == 0
// if there is none at present. It reads the clock, and records the known tick.
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

// know records the known tick: the one that the clock showed, in the reading at, just after the
// counter was at count. After the n slots from from, up to knownSlots more may be issued in it, but
// none after the tick last.
func (a *allocator) know(count uint64, at clockReading, from, n, last uint64) {
	end := a.clock.startOf(a.clock.tickAt(at.wall) + 1)
	length := a.clock.counter.countsIn(end-at.wall, count, at.elapsed)
	if n == 0 {
		length = 0
	}
	limit := min(from+n+knownSlots, last<<a.layout.SequenceBits|a.layout.sequenceMax)
	a.known.set(count, length, limit)
}

// takeByClock does what take does, but records nothing. It also returns the reading of the clock
// and the last tick in which that allows ids.
//
// The swap makes this safe: it succeeds only if the cursor has not moved since it was loaded, and
// it never lowers the cursor. A goroutine that pauses after reading the clock finds the cursor
// ahead of its reading, and allocates from the cursor. If its old reading forbids a slot, await
// looks again.
func (a *allocator) takeByClock(want uint64) (from, n uint64, at clockReading, last uint64) {
	l := a.layout
	bits := l.SequenceBits
	cursor := a.cursor.Load()
	at, now, maxTick := a.readLimits()
	for {
		last = a.lastTick(maxTick)
		if now > last { // at the fence, or after the end of the layout
			return 0, 0, at, last
		}
		from = cursor
		if clock := now << bits; clock > cursor {
			from = clock + a.sequence.first(cursor, l.sequenceMax)
		}
		tick := from >> bits
		if tick > last { // always true of a closed cursor
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
		// Another core has the cursor's cache line. Passing that back and forth for each id
		// costs more than the id. So let the other core continue for a while. Then read the
		// clock before the cursor, so that the other has less time to move the cursor.
		a.clock.backOff()
		at, now, maxTick = a.readLimits()
		cursor = a.cursor.Load()
	}
}

// lastTick returns the last tick in which ids may be issued, if the clock allows maxTick. No
// other function enforces the fence.
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

// limits returns the present tick, and the last tick that the clocks allow, see limit.
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

// limit returns the time up to which ids are issued without running ahead. It is the highest of
// the wall clock, the hybrid clock if the ClockPolicy uses it, and the grant clock. The grant
// clock starts at the grant's first tick and advances with the monotonic clock.
func (a *allocator) limit(at clockReading) int64 {
	wall := at.wall
	if a.policy.hybrid {
		wall = max(wall, at.hybrid)
	}
	return max(wall, at.elapsed+a.grantOffset)
}

// timeUntil returns how long it takes until the limit reaches tick.
func (a *allocator) timeUntil(tick uint64) time.Duration {
	limit := a.limit(a.clock.read())
	return time.Duration(max(a.clock.startOf(tick)-limit, 0))
}

// oldestUnused returns the first tick of the window that Reuse has before tick.
func (a *allocator) oldestUnused(tick uint64) uint64 {
	return tick - min(uint64(a.policy.window/a.layout.Tick), tick)
}

// id returns the id of a slot. (No shift exceeds 63. The masks tell the compiler so, which makes
// this several times as fast.)
func (a *allocator) id(slot uint64) int64 {
	sequence := slot & a.sequenceMax
	return int64((slot-sequence)<<(a.tickShift&63) | sequence<<(a.seqShift&63) | a.base)
}

func (a *allocator) startOf(tick uint64) time.Time { return a.layout.startOf(tick) }

// close closes the allocator, once, and returns the first tick above its ids. A goroutine that
// finds the closed cursor issues nothing.
func (a *allocator) close() (unused uint64) {
	a.queue.mu.Lock()
	if cursor := a.cursor.Swap(closedCursor); cursor != closedCursor {
		a.queue.final = cursor
	}
	a.queue.mu.Unlock()
	if a.unused != nil {
		a.unused.close()
	}
	return a.position(0).lastIssued + 1
}

func (a *allocator) issued() bool { return a.position(0).lastIssued >= a.first>>a.layout.SequenceBits }

// passed returns how many slots the cursor has passed, without those that are only reserved, plus
// how many Reuse has issued since.
func (a *allocator) passed() uint64 {
	p := a.position(0)
	return p.cursor - a.first - p.unissued + a.reused.Load()
}
