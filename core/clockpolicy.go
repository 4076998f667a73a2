package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"time"
)

// ClockPolicy says what a generator does when the wall clock is behind the ids it has issued:
// one of [Logical], [Refuse], [Wait], [Rollback], [Reuse] and [Rotate]. With none of them is
// an id issued twice. It cannot be implemented outside this package, which could not keep
// that promise for it.
type ClockPolicy interface {
	compile(Layout) compiledPolicy
}

// compiledPolicy is what a generator needs to know of its ClockPolicy.
type compiledPolicy struct {
	kind     policyKind
	hybrid   bool          // ids may go up to the hybrid clock, not just the wall clock,
	maxAhead time.Duration // and beyond it, below a fence
	maxWait  time.Duration // Wait.Max; 0: Config.MaxWait
	window   time.Duration // Reuse.Window
	invalid  []FieldError
}

// policyKind says what happens when the wall clock is behind the last id.
type policyKind uint8

const (
	policyLogical policyKind = iota
	policyDetached
	policyRefuse
	policyWait
	policyRollback
	policyReuse
	policyRotate
)

// Logical is the default: ids continue without an error. While the wall clock is behind the
// last id, they stay in that id's tick until it is full, and only then take the next, up to
// the tick that the clock would show had it never stepped back. So a step back of any size
// costs no ids, ids ascend, and their lead over the wall clock shrinks by itself.
//
// Below the fence of a grant ids may also run ahead of that time, by up to MaxAhead, while
// ticks are full.
type Logical struct {
	MaxAhead time.Duration // zero: 10s
	// Detached ignores the clock altogether: ids begin at the grant's first tick and take the
	// next tick only when one is full, up to the fence. It requires a grant with a fence.
	// Parts.Time is then an ordinal, not a time.
	Detached bool
}

func (l Logical) compile(Layout) compiledPolicy {
	if l.MaxAhead == 0 {
		l.MaxAhead = 10 * time.Second
	}
	if l.MaxAhead < 0 {
		return invalidPolicy("ClockPolicy.MaxAhead", fmt.Sprint(l.MaxAhead), "must not be negative")
	}
	if l.Detached {
		return compiledPolicy{kind: policyDetached, hybrid: true}
	}
	return compiledPolicy{kind: policyLogical, hybrid: true, maxAhead: l.MaxAhead}
}

// Refuse returns a [ClockError] while the wall clock is behind the last id's tick. Ids
// continue when it has caught up.
type Refuse struct{}

func (Refuse) compile(Layout) compiledPolicy { return compiledPolicy{kind: policyRefuse} }

// Wait waits for the wall clock to reach the last id's tick. If that takes longer than Max,
// it returns a [ClockError] at once.
type Wait struct {
	Max time.Duration // zero: Config.MaxWait
}

func (w Wait) compile(Layout) compiledPolicy {
	if w.Max < 0 {
		return invalidPolicy("ClockPolicy.Max", w.Max.String(), "must not be negative")
	}
	return compiledPolicy{kind: policyWait, maxWait: w.Max}
}

// Rollback counts the steps back in a field of the id; it requires a layout with RollbackBits.
// The generator keeps a high-water mark for each value of the field. At a step back it takes
// the lowest value whose mark is not above the clock. If there is none, as after many steps
// over the same time, it returns a [ClockError].
//
// Ids descend at a step back. The marks are kept in memory only: with Fixed, a step back to
// before this generator was made may repeat ids of an earlier one. Where that is possible, set
// Config.NotBefore to the present or to the time of the greatest id in use; such a step back
// is then a ClockError.
type Rollback struct{}

func (Rollback) compile(l Layout) compiledPolicy {
	if l.RollbackBits == 0 {
		p := invalidPolicy("ClockPolicy", "Rollback{}", "needs a layout with RollbackBits")
		p.kind = policyRollback
		return p
	}
	return compiledPolicy{kind: policyRollback}
}

// Reuse remembers the slots that the ticks of the last Window left unused. While the wall
// clock is behind by no more than Window, Next issues those, each once: the first one that is
// not before the clock, or else the last one that is. It returns a [ClockError] when they are
// exhausted, or when the clock is further behind. Fill never uses them and returns a
// ClockError at once.
//
// It remembers at least the newest 98,304 ranges of unused slots, in 64 bytes for each tick of
// Window, at most 2 MiB. Ids descend while it issues them.
type Reuse struct {
	Window time.Duration // zero: 1s; at most 1h
}

func (r Reuse) compile(Layout) compiledPolicy {
	if r.Window == 0 {
		r.Window = time.Second
	}
	if r.Window < 0 || r.Window > time.Hour {
		return invalidPolicy("ClockPolicy.Window", r.Window.String(), "must be from 0 to 1h")
	}
	return compiledPolicy{kind: policyReuse, window: r.Window}
}

// Rotate asks the [GrantSource] for another worker ID when the wall clock is behind the last
// id, and continues under that from the present. If there is none, the error wraps a
// [ClockError] and the source's error.
//
// Ids descend at a step back. Without a fence, no other generator may have used the new worker
// ID in the time to which the clock stepped back.
type Rotate struct{}

func (Rotate) compile(Layout) compiledPolicy { return compiledPolicy{kind: policyRotate} }

func invalidPolicy(field, value, reason string) compiledPolicy {
	return compiledPolicy{invalid: []FieldError{{field, value, reason}}}
}

// unusedSlots are the slots that an allocator has passed over, for Reuse. They end with the
// allocator.
type unusedSlots struct {
	mu     sync.Mutex
	buf    []slotRange // longer than needed, so that ranges rarely moves to its beginning; nil: closed
	ranges []slotRange // part of buf: ascending, disjoint, none empty
}

type slotRange struct{ from, to uint64 }

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

// SequenceStart says with which sequence number a new tick begins. It matters if rows are
// sharded by id modulo the number of shards. The ids of a generator that is seldom used are
// mostly the first of their tick. With SequenceZero these are all even, and reach only a few
// shards. [Shard] does not depend on it.
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
