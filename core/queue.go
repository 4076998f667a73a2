package core

import (
	"slices"
	"sync"
)

// queue orders calls that wait for slots that may not be issued yet. The cursor is the queue: a
// call that finds no slot reserves the next ones, and issues them when the clock and the fence
// allow their tick. Later calls reserve later slots. So each gets its slots in turn, and no call
// has to wake another.
//
// A reserved slot is before the cursor, so only its call can issue it. The call issues it once, or
// gives it back once: if calls that give up kept their slots, a load above the cap could fill the line with
// slots of calls that are gone. A slot that was given back is reserved by another call, or forgotten. All
// that is issued here is issued under mu, as is the closing of the cursor: so final and lastSlot are
// complete when the allocator is closed, and the next one begins above all ids.
type queue struct {
	mu       sync.Mutex  // held for a moment, never while waiting
	end      uint64      // the cursor, when a reservation moved it last
	lastSlot uint64      // the greatest slot that was issued, while the cursor is at end
	gaps     []slotRange // slots that were given back, in ascending order
	unissued uint64      // how many slots before the cursor were reserved and not issued
	final    uint64      // the cursor when the allocator was closed
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

// lockedPosition returns the position, and brings the queue up to date. Its mu is held.
func (a *allocator) lockedPosition(now uint64) position {
	q, bits := &a.queue, a.layout.SequenceBits
	p := position{cursor: a.cursor.Load(), unissued: q.unissued}
	if p.closed = p.cursor == closedCursor; p.closed {
		p.cursor = q.final
	}
	if p.cursor != q.end { // take has moved it since: the slot before it is issued
		q.end, q.lastSlot = p.cursor, p.cursor-1
	}
	// Forget what was given back and is before now, or below an id that was issued: a call gets neither
	// a time before it began, nor a lesser id than a call that returned before.
	old, _ := slices.BinarySearchFunc(q.gaps, max(q.lastSlot+1, now<<bits), slotRange.compare)
	q.gaps = slices.Delete(q.gaps, 0, old)
	p.next, p.lastIssued = p.cursor, q.lastSlot>>bits
	if len(q.gaps) > 0 {
		p.next = q.gaps[0].from
	}
	p.issued = p.lastIssued >= a.first>>bits
	return p
}

// reserve reserves up to want slots from next on, all of one tick, and no more than half a tick, so
// that a large Fill leaves room for others. It reports false if next is no longer the next one.
func (a *allocator) reserve(r *chunk, next, want uint64) bool {
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
		n = min(n, g.to-g.from)
		if g.from += n; g.from == g.to {
			q.gaps = slices.Delete(q.gaps, 0, 1)
		}
	}
	*r = chunk{a, slotRange{next, next + n}}
	return true
}

// takeReserved takes reserved slots. It reports false if they may not be issued yet, or no more.
func (a *allocator) takeReserved(r slotRange) bool {
	if _, _, limit := a.limits(); r.from>>a.layout.SequenceBits > a.lastAllowed(limit) {
		return false
	}
	q := &a.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if a.lockedPosition(0).closed {
		return false
	}
	q.lastSlot = max(q.lastSlot, r.to-1)
	q.unissued -= r.to - r.from
	return true
}

// giveBack gives back reserved slots.
func (a *allocator) giveBack(r slotRange) {
	q := &a.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	i, _ := slices.BinarySearchFunc(q.gaps, r.from, slotRange.compare)
	if i > 0 && q.gaps[i-1].to == r.from && r.from&a.sequenceMax != 0 { // of the same tick
		q.gaps[i-1].to = r.to
		return
	}
	q.gaps = slices.Insert(q.gaps, i, r)
}
