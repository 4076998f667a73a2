package core

import (
	"cmp"
	"math"
	"slices"
	"sync"
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
	maxAhead     uint64 // how many ticks ids may be ahead of the clock
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

// newAllocator returns an allocator that begins at the tick first, or at the grant's first tick
// if that is later. It never begins at tick 0, so there is always a slot before the first one.
func newAllocator(s *shared, grant *Grant, rollback, first uint64) *allocator {
	a := &allocator{
		shared: s, grant: grant, rollback: rollback, grantClock: grantClock{shows: noOffset},
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

// A grantClock lets ids begin ahead of all other clocks, at the grant's first tick. It then runs at a
// third of their speed, so that ids do not reach the fence before it rises again. It rises when the store's
// clock has reached the first tick, which is at most 2*(FenceWindow+MaxSkew) ahead. Until then, ids use a
// third of that time: at most one FenceWindow, because MaxSkew is at most half of it.
type grantClock struct{ began, shows int64 }

const grantClockSlow = 3 // it shows a third of the time that passes

// at is what the clock shows at an elapsed time.
func (g grantClock) at(elapsed int64) int64 { return g.shows + (elapsed-g.began)/grantClockSlow }

// startClock starts the grant clock of an allocator that is not in use yet. If the grant's first
// tick is ahead of all clocks, which show at, the grant clock shows that tick then. Otherwise the
// allocator keeps the inherited grant clock.
func (a *allocator) startClock(inherited grantClock, at clockReading) {
	a.grantClock = inherited
	if a.policy.kind != policyDetached && a.grant.first > a.clock.tickAt(a.limit(at)) {
		a.grantClock = grantClock{at.elapsed, a.clock.startOf(a.grant.first)}
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
	at, now, maxTick := a.limits()
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
		at, now, maxTick = a.limits()
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

// limits reads the clocks. It returns the present tick, and the last tick that they allow, see limit.
func (a *allocator) limits() (at clockReading, now, maxTick uint64) {
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
// the wall clock, the hybrid clock if the ClockPolicy uses it, and the grant clock.
func (a *allocator) limit(at clockReading) int64 {
	return max(a.limitWithoutGrant(at), a.grantClock.at(at.elapsed))
}

func (a *allocator) limitWithoutGrant(at clockReading) int64 {
	if a.policy.hybrid {
		return max(at.wall, at.hybrid)
	}
	return at.wall
}

// timeUntil returns how long it takes until the limit reaches tick.
func (a *allocator) timeUntil(tick uint64) time.Duration {
	at, start := a.clock.read(), a.clock.startOf(tick)
	d := start - a.limitWithoutGrant(at)
	if by := start - a.grantClock.at(at.elapsed); by < d/grantClockSlow {
		d = by * grantClockSlow
	}
	return time.Duration(max(d, 0))
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

// queue orders calls that wait for slots that may not be issued yet. The cursor is the queue: a
// call that finds no slot reserves the next ones, and issues them when the clock and the fence
// allow their tick. Later calls reserve later slots. So each gets its slots in turn, and no call
// has to wake another.
//
// A reserved slot is before the cursor, so only its call can issue it. The call issues it once, or
// gives it back once: if calls that give up kept their slots, a load above the cap could fill the line with
// slots of calls that are gone. A slot that was given back is reserved by another call, or forgotten. All
// that is issued here is issued under mu, as is the closing of the cursor: so final and last are
// complete when the allocator is closed, and the next one begins above all ids.
type queue struct {
	mu       sync.Mutex // held for a moment, never while waiting
	end      uint64     // the cursor, when a reservation moved it last
	last     uint64     // the greatest slot that was issued, while the cursor is at end
	gaps     []gap      // slots that were given back, in ascending order
	unissued uint64     // how many slots before the cursor were reserved and not issued
	final    uint64     // the cursor when the allocator was closed
}

// gap is n slots, the first of which is from.
type gap struct{ from, n uint64 }

func (g gap) compare(from uint64) int { return cmp.Compare(g.from, from) }

// catchUp records that take has moved the cursor, if it has: the slot before the cursor is issued then.
// It forgets slots that were given back and are before lowest, or below an id that was issued: a call
// gets neither a time before it began, nor a lesser id than a call that returned before.
func (q *queue) catchUp(cursor, lowest uint64) {
	if cursor != q.end {
		q.end, q.last = cursor, cursor-1
	}
	old, _ := slices.BinarySearchFunc(q.gaps, max(q.last+1, lowest), gap.compare)
	q.gaps = slices.Delete(q.gaps, 0, old)
}

// reservation is what a call has reserved. n == 0: nothing.
type reservation struct {
	allocator *allocator
	gap
}

// position is where an allocator is.
type position struct {
	cursor     uint64 // as when the allocator was closed, if it is
	next       uint64 // the slot to be reserved: the cursor, or one that was given back
	lastIssued uint64 // the tick of the last id, or one before the first tick if there is none yet
	unissued   uint64
	issued     bool // whether there is an id yet
	closed     bool
}

// position returns the position at the tick now, before which no slot is reserved.
func (a *allocator) position(now uint64) position {
	a.queue.mu.Lock()
	defer a.queue.mu.Unlock()
	return a.lockedPosition(now)
}

func (a *allocator) lockedPosition(now uint64) position {
	q := &a.queue
	p := position{cursor: a.cursor.Load(), unissued: q.unissued}
	if p.closed = p.cursor == closedCursor; p.closed {
		p.cursor = q.final
	}
	q.catchUp(p.cursor, now<<a.layout.SequenceBits)
	p.next, p.lastIssued = p.cursor, q.last>>a.layout.SequenceBits
	if len(q.gaps) > 0 {
		p.next = q.gaps[0].from
	}
	p.issued = p.lastIssued >= a.first>>a.layout.SequenceBits
	return p
}

// reserve reserves up to want slots from next on, all of one tick, and no more than half a tick, so
// that a large Fill leaves room for others. It reports false if next is no longer the next one.
func (a *allocator) reserve(r *reservation, next, want uint64) bool {
	q := &a.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	p := a.lockedPosition(0)
	if p.next != next || p.closed {
		return false
	}
	n := min(want, a.sequenceMax+1-next&a.sequenceMax, a.sequenceMax/2+1)
	if next == p.cursor {
		if !a.cursor.CompareAndSwap(next, next+n) {
			return false
		}
		q.end = next + n
		q.unissued += n
	} else {
		g := &q.gaps[0]
		n = min(n, g.n)
		g.from, g.n = g.from+n, g.n-n
		if g.n == 0 {
			q.gaps = slices.Delete(q.gaps, 0, 1)
		}
	}
	*r = reservation{a, gap{next, n}}
	return true
}

// takeReserved takes reserved slots. It reports false if they may not be issued yet, or no more.
func (a *allocator) takeReserved(r gap) bool {
	if _, _, maxTick := a.limits(); r.from>>a.layout.SequenceBits > a.lastTick(maxTick) {
		return false
	}
	q := &a.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if a.lockedPosition(0).closed {
		return false
	}
	q.last = max(q.last, r.from+r.n-1)
	q.unissued -= r.n
	return true
}

// giveBack gives back reserved slots.
func (a *allocator) giveBack(r gap) {
	q := &a.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	i, _ := slices.BinarySearchFunc(q.gaps, r.from, gap.compare)
	if i > 0 && q.gaps[i-1].from+q.gaps[i-1].n == r.from && r.from&a.sequenceMax != 0 { // of the same tick
		q.gaps[i-1].n += r.n
		return
	}
	q.gaps = slices.Insert(q.gaps, i, r)
}
