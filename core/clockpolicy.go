package core

import (
	"fmt"
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
// Below the fence of a grant, ids may also run ahead of that time while ticks are full: by at most
// MaxAhead, and at most half of the time from the grant's beginning to its first fence.
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
