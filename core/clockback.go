package core

import (
	"fmt"
	"time"
)

// ClockBack says what a generator does when the wall clock stands behind the
// ids it has issued: one of [Logical] and [Refuse].
type ClockBack interface {
	// policy is not exported: what it promises cannot be promised by others' code.
	policy() (policy, []Fault)
}

// policy is what the hot path needs to know of a ClockBack.
type policy struct {
	carry bool          // ids may go up to the carried clock, not just the wall clock
	ahead time.Duration // and beyond it, under a durable bound
}

// Logical, the default, goes on without an error: while the wall clock is
// behind the last id, ids stay in that id's tick until it is full and only then
// take the next, up to the tick the clock would be in had it never gone back.
// So a step back of any size loses nothing, ids ascend, and the lead over the
// wall clock shrinks by itself.
//
// Under a grant with a durable bound, ids may also run ahead of that by
// MaxAhead when ticks are full.
type Logical struct {
	MaxAhead time.Duration // zero: 10s
}

func (l Logical) policy() (policy, []Fault) {
	if l.MaxAhead == 0 {
		l.MaxAhead = 10 * time.Second
	}
	if l.MaxAhead < 0 {
		return policy{}, []Fault{{"ClockBack.MaxAhead", fmt.Sprint(l.MaxAhead), "must not be negative"}}
	}
	return policy{carry: true, ahead: l.MaxAhead}, nil
}

// Refuse answers with a [ClockError] while the wall clock is behind the last
// id's tick. Ids go on when it has caught up.
type Refuse struct{}

func (Refuse) policy() (policy, []Fault) { return policy{}, nil }
