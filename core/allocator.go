package core

import (
	"cmp"
	"math"
	"sync/atomic"
	"time"
)

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
	grantClock   grantClock
	first        uint64 // the first slot
	maxAhead     uint64 // ticks that ids may run ahead of the clock
	unused       *unusedSlots
	lossReported atomic.Bool

	_      [64]byte // the cursor has its own cache line
	cursor atomic.Uint64
	_      [56]byte
	reused atomic.Uint64 // slots of unused that were issued
	known  knownTick

	_     [64]byte // the fast path reads what is before this, and writes nothing of the queue
	queue queue
}

// slotRange is the slots from from to before to.
type slotRange struct{ from, to uint64 }

func (r slotRange) compare(from uint64) int { return cmp.Compare(r.from, from) }

// chunk is slots of one allocator. The zero value is none.
type chunk struct {
	allocator *allocator
	slotRange
}

// newAllocator returns an allocator that begins at the tick first, or at the grant's first tick
// if that is later. It never begins at tick 0, so there is always a slot before the first one.
func newAllocator(s *shared, grant *Grant, rollback, first uint64) *allocator {
	a := &allocator{
		shared: s, grant: grant, rollback: rollback, grantClock: grantClock{shows: noOffset},
		base:        rollback<<s.layout.rollbackShift | uint64(grant.worker)<<s.layout.workerShift,
		sequenceMax: s.layout.sequenceMax,
		tickShift:   uint8(s.layout.timeShift - uint(s.layout.SequenceBits)), seqShift: uint8(s.layout.sequenceShift),
	}
	a.maxAhead = min(uint64(s.policy.maxAhead/s.layout.Tick), grant.window/2) // see grantClock
	if s.policy.kind == policyReuse {
		a.unused = newUnusedSlots(uint64(s.policy.window / s.layout.Tick))
	}
	a.first = s.layout.firstSlot(max(first, grant.first, 1))
	a.cursor.Store(a.first)
	return a
}

// A grantClock lets ids begin ahead of all other clocks, at the grant's first tick. It then runs at a
// third of their speed, so that ids do not reach the fence before it rises again. The fence rises when the
// store's clock has reached the first tick, which is at most 2*(FenceWindow+MaxSkew) ahead. Until then, ids
// use a third of that time: at most one FenceWindow, because MaxSkew is at most half of it. Ids that run
// ahead of the other clocks do not reach the fence either: until it rises, those clocks are at most MaxSkew
// beyond the first tick, and maxAhead is at most half of a FenceWindow. A floor that was raised by hand may
// be further ahead: then ids can reach the fence, and wait for it to rise.
type grantClock struct{ began, shows int64 }

const grantClockSlow = 3 // it shows a third of the time that passes

// at is what the clock shows at an elapsed time.
func (g grantClock) at(elapsed int64) int64 { return g.shows + (elapsed-g.began)/grantClockSlow }

// startClock starts the grant clock of an allocator that is not in use yet. If the grant's first
// tick is ahead of all clocks, which show at, the grant clock shows that tick then. Otherwise the
// allocator keeps the inherited grant clock.
func (a *allocator) startClock(inherited grantClock, at clockReading) {
	a.grantClock = inherited
	first := a.clock.startOf(a.grant.first)
	if a.policy.kind != policyDetached && first > max(a.clockOfPolicy(at), inherited.at(at.elapsed)) {
		a.grantClock = grantClock{at.elapsed, first}
	}
}

// raiseFirst makes an allocator that is not in use yet begin no earlier than at tick.
func (a *allocator) raiseFirst(tick uint64) {
	a.first = max(a.first, a.layout.firstSlot(tick))
	a.cursor.Store(a.first)
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
	at, now, limit := a.limits()
	for {
		last = a.lastAllowed(limit)
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
		at, now, limit = a.limits()
		cursor = a.cursor.Load()
	}
}

// lastAllowed returns the last tick in which ids may be issued. limit is the last one that the clocks allow.
// No other function enforces the fence.
func (a *allocator) lastAllowed(limit uint64) uint64 {
	last := min(limit, a.layout.usableMax)
	if fence := a.grant.fence.Load(); fence <= last {
		if fence == 0 {
			return 0 // revoked; no id is issued in tick 0
		}
		last = fence - 1
	}
	return last
}

// limits reads the clocks. It returns the present tick, and the last one in which they allow ids.
func (a *allocator) limits() (at clockReading, now, limit uint64) {
	if a.policy.kind == policyDetached {
		return at, 0, a.layout.usableMax
	}
	at = a.clock.read()
	return at, a.clock.tickAt(at.wall), a.limit(at)
}

// limit returns the last tick in which the clocks allow ids.
func (a *allocator) limit(at clockReading) uint64 {
	ns, byGrant := a.clockOfPolicy(at), a.grantClock.at(at.elapsed)
	limit := a.clock.tickAt(ns) + a.maxAhead
	if byGrant > ns {
		limit = max(limit, a.clock.tickAt(byGrant))
	}
	return limit
}

// clockOfPolicy returns the wall clock's time, or the hybrid clock's if that is later and the ClockPolicy uses it.
func (a *allocator) clockOfPolicy(at clockReading) int64 {
	if a.policy.hybrid {
		return max(at.wall, at.hybrid)
	}
	return at.wall
}

// timeUntil returns how long it takes until the clocks allow ids in tick.
func (a *allocator) timeUntil(tick uint64) time.Duration {
	at := a.clock.read()
	d := a.clock.startOf(tick-min(a.maxAhead, tick)) - a.clockOfPolicy(at)
	if by := a.clock.startOf(tick) - a.grantClock.at(at.elapsed); by < d/grantClockSlow {
		d = by * grantClockSlow
	}
	return time.Duration(max(d, 0))
}

// id returns the id of a slot. (No shift exceeds 63. The masks tell the compiler so, which makes
// this several times as fast.)
func (a *allocator) id(slot uint64) int64 {
	sequence := slot & a.sequenceMax
	return int64((slot-sequence)<<(a.tickShift&63) | sequence<<(a.seqShift&63) | a.base)
}

// close closes the allocator, once, and returns where its ids end. A goroutine that finds the
// closed cursor issues nothing.
func (a *allocator) close() position {
	a.queue.mu.Lock()
	defer a.queue.mu.Unlock()
	if cursor := a.cursor.Swap(closedCursor); cursor != closedCursor {
		a.queue.final = cursor
	}
	if a.unused != nil {
		a.unused.close()
	}
	return a.lockedPosition(0)
}

// slotsPassed returns how many slots the cursor has passed, without those that are only reserved, plus
// how many Reuse has issued since.
func (a *allocator) slotsPassed() uint64 {
	p := a.position(0)
	return p.cursor - a.first - p.unissued + a.reused.Load()
}
