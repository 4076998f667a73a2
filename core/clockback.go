package core

import (
	"fmt"
	"time"
)

// ClockPolicy says what a generator does when the wall clock stands behind the
// ids it has issued: one of [Logical], [Refuse], [Wait], [Rollback], [Reuse]
// and [Rotate]. In none of them is an id issued twice.
type ClockPolicy interface {
	// policy is not exported: what it promises cannot be promised by others' code.
	policy(Layout) policy
}

// policy is what the generator needs to know of a ClockPolicy.
type policy struct {
	answer answer
	carry  bool          // ids may go up to the carried clock, not just the wall clock
	ahead  time.Duration // and beyond it, under a durable bound
	max    time.Duration // Wait: how long; 0: Config.MaxWait
	window time.Duration // Reuse: how far back
	faults []FieldError  // of the ClockPolicy itself
}

// answer is what is done when the wall clock is behind the last id.
type answer uint8

const (
	goOn     answer = iota // Logical
	detached               // Logical, without a clock
	refuse
	wait
	rollBack
	reuse
	rotate
)

// Logical is the default: it goes on without an error: while the wall clock is
// behind the last id, ids stay in that id's tick until it is full and only then
// take the next, up to the tick the clock would be in had it never gone back.
// So a step back of any size loses nothing, ids ascend, and the lead over the
// wall clock shrinks by itself.
//
// Under a grant with a durable bound, ids may also run ahead of that by
// MaxAhead when ticks are full. Under one that begins ahead of the clock, they
// begin there.
type Logical struct {
	MaxAhead time.Duration // zero: 10s
	// Detached leaves the clock out altogether: ids begin at the grant's first
	// tick and take the next only when one is full, as far as the bound goes.
	// It needs a grant with a bound. Parts.Time is then no time but an ordinal.
	Detached bool
}

func (l Logical) policy(Layout) policy {
	if l.MaxAhead == 0 {
		l.MaxAhead = 10 * time.Second
	}
	if l.MaxAhead < 0 {
		return policy{faults: []FieldError{{"ClockPolicy.MaxAhead", fmt.Sprint(l.MaxAhead), "must not be negative"}}}
	}
	if l.Detached {
		return policy{answer: detached, carry: true}
	}
	return policy{answer: goOn, carry: true, ahead: l.MaxAhead}
}

// Refuse answers with a [ClockError] while the wall clock is behind the last
// id's tick. Ids go on when it has caught up.
type Refuse struct{}

func (Refuse) policy(Layout) policy { return policy{answer: refuse} }

// Wait waits for the wall clock to catch up with the last id's tick if that
// takes at most Max, and else answers with a [ClockError] at once.
type Wait struct {
	Max time.Duration // zero: Config.MaxWait
}

func (w Wait) policy(Layout) policy {
	if w.Max < 0 {
		return policy{faults: []FieldError{{"ClockPolicy.Max", w.Max.String(), "must not be negative"}}}
	}
	return policy{answer: wait, max: w.Max}
}

// Rollback counts the steps back in a field of the id: the layout must have
// RollbackBits. Each value of the field keeps its own highest tick, and a step
// back takes the lowest value that has not come as far as the clock is now. A
// [ClockError] is the answer when there is none, as after many steps over the
// same time.
//
// Ids descend at a step back. The highest ticks are kept in memory. So under
// Fixed a step to before this generator was made may meet what an earlier one
// issued under the same number and value: where that can be, set
// Config.NotBefore to the time of the greatest id in use, or to the present;
// a step to before it is then a ClockError.
type Rollback struct{}

func (Rollback) policy(l Layout) policy {
	if l.RollbackBits == 0 {
		return policy{answer: rollBack, faults: []FieldError{{"ClockPolicy", "Rollback{}", "needs a layout with RollbackBits"}}}
	}
	return policy{answer: rollBack}
}

// Reuse remembers which numbers were left unused in the ticks of the last
// Window, and issues those, each once, while the wall clock is behind by no
// more than that: the first that does not lie before the clock, or else the last
// that does. Of stretches of such numbers it remembers the newest 98,304 at
// least, in 64 bytes for each tick of the Window and 2 MiB at the most. A
// [ClockError] is the answer when they are used up or the clock is farther
// behind, and to Fill, which never uses them.
//
// Ids descend while such numbers are issued.
type Reuse struct {
	Window time.Duration // zero: 1s; at most 1h
}

func (r Reuse) policy(Layout) policy {
	if r.Window == 0 {
		r.Window = time.Second
	}
	if r.Window < 0 || r.Window > time.Hour {
		return policy{faults: []FieldError{{"ClockPolicy.Window", r.Window.String(), "must be from 0 to 1h"}}}
	}
	return policy{answer: reuse, window: r.Window}
}

// Rotate asks the Worker for another worker number when the wall clock is
// behind the last id, and goes on under that one from where the clock is now.
// If the Worker has none to give, the error wraps a [ClockError] and its answer.
//
// Ids descend at a step back. A number given without a bound must not have been
// used, in the time that the clock went back to, by anybody else.
type Rotate struct{}

func (Rotate) policy(Layout) policy { return policy{answer: rotate} }
