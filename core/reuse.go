package core

import (
	"slices"
	"sort"
	"sync"
	"time"
)

// takeUnused takes one slot that was passed over, if the clock is behind the last id by no more than
// the window of Reuse.
func (a *allocator) takeUnused() (slot, n uint64) {
	_, now, limit := a.limits()
	last := a.position(now).lastIssued
	if limit >= last || a.stepBack(last, limit) > a.policy.window || a.grant.fence.Load() == 0 { // 0: revoked
		return 0, 0
	}
	bits := a.layout.SequenceBits
	slot, ok := a.unused.take(limit<<bits, a.oldestUnused(last)<<bits)
	if !ok {
		return 0, 0
	}
	a.reused.Add(1)
	return slot, 1
}

// stepBack returns how far the tick limit is behind the tick last.
func (a *allocator) stepBack(last, limit uint64) time.Duration {
	return a.layout.startOf(last).Sub(a.layout.startOf(limit))
}

// oldestUnused returns the first tick of the window that Reuse has before tick.
func (a *allocator) oldestUnused(tick uint64) uint64 {
	return tick - min(uint64(a.policy.window/a.layout.Tick), tick)
}

// unusedSlots are the slots that an allocator has passed over, for Reuse. They end with the
// allocator.
type unusedSlots struct {
	mu     sync.Mutex
	buf    []slotRange // longer than needed, so that ranges rarely moves to its beginning; nil: closed
	ranges []slotRange // part of buf: ascending, disjoint, none empty
}

const maxRanges = 1 << 17 // beyond this, the oldest are dropped

// newUnusedSlots makes room for a window of so many ticks, twice: each tick leaves at most one
// range, which take may split in two. So neither add nor take allocates.
func newUnusedSlots(ticks uint64) *unusedSlots {
	u := &unusedSlots{buf: make([]slotRange, min(4*(ticks+8), maxRanges))}
	u.ranges = u.buf[:0]
	return u
}

// add records [from, to), and drops what is before oldest. Only the goroutine that moved the
// cursor across the range calls it, so no slot is added twice.
func (u *unusedSlots) add(from, to, oldest uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.drop(oldest)
	if from >= to || u.buf == nil {
		return
	}
	u.makeRoom()
	at := len(u.ranges)
	for at > 0 && u.ranges[at-1].from > from { // racing goroutines are slightly out of order
		at--
	}
	u.ranges = slices.Insert(u.ranges, at, slotRange{from, to})
}

// makeRoom makes room for one more range. If need be it drops the oldest.
func (u *unusedSlots) makeRoom() {
	if len(u.ranges) == cap(u.ranges) {
		most := len(u.buf) - len(u.buf)/4 // so that the next move is far away
		u.ranges = u.buf[:copy(u.buf, u.ranges[max(0, len(u.ranges)-most):])]
	}
}

// drop forgets what is before oldest.
func (u *unusedSlots) drop(oldest uint64) {
	n := 0
	for n < len(u.ranges) && u.ranges[n].to <= oldest {
		n++
	}
	u.ranges = u.ranges[n:]
	if len(u.ranges) > 0 && u.ranges[0].from < oldest {
		u.ranges[0].from = oldest
	}
}

// take removes one slot: the first that is not before from, or else the last that is, but
// none before oldest.
func (u *unusedSlots) take(from, oldest uint64) (slot uint64, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.drop(oldest)
	if len(u.ranges) == 0 {
		return 0, false
	}
	u.makeRoom() // a range may be split
	at := sort.Search(len(u.ranges), func(i int) bool { return u.ranges[i].to > from })
	if at == len(u.ranges) { // all are before it
		at--
		slot = u.ranges[at].to - 1
	} else {
		slot = max(from, u.ranges[at].from)
	}
	switch r := &u.ranges[at]; {
	case r.from+1 == r.to:
		u.ranges = slices.Delete(u.ranges, at, at+1)
	case slot == r.from:
		r.from++
	case slot+1 == r.to:
		r.to--
	default:
		after := slotRange{slot + 1, r.to}
		r.to = slot
		u.ranges = slices.Insert(u.ranges, at+1, after)
	}
	return slot, true
}

// close drops everything, for good.
func (u *unusedSlots) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ranges, u.buf = nil, nil
}
