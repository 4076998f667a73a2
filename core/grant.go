package core

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const noBound = math.MaxUint64 // an `until` that no tick reaches

// A Grant is the right to issue ids under one worker number whose time lies in
// [from, until). The end may rise while ids are issued; a grant may also be
// revoked. It serves one generator, once. All methods may be called at any time
// from any goroutine.
type Grant struct {
	shape  *shape // nil: any layout, as for Fixed
	worker int64
	from   uint64        // first tick
	after  time.Time     // ids begin here or later; for a grant that knows no layout
	until  atomic.Uint64 // first tick beyond; only rises, but for 0: revoked
	bound  bool          // until was given: it is durable, and may be borrowed up to
	asked  atomic.Uint32 // the Reason why its generator has asked for another

	mu     sync.Mutex
	run    *run          // of the generator that has it
	high   uint64        // first tick above those of the runs before it
	closed bool          // no run may start any more
	cause  error         // why it was revoked
	fault  error         // why until does not rise at present; see SetFenceError
	risen  chan struct{} // closed and replaced when until, cause or fault changes
	done   chan struct{} // closed when no generator has it or will have it

	reached chan struct{} // see Reached
}

// NewGrant makes a grant of the worker number datacenter<<WorkerBits | worker.
// Ids carry times from `from` (zero: the layout's epoch) to before `until`
// (zero: no bound). If `from` lies ahead of the clock, ids begin there all the
// same. A bound is a promise of the caller's that it has been recorded durably
// and that no other grant of this number begins below it; only under a bound
// may ids run ahead of the clock by more than that, see [Logical]. What is wrong
// is told in a [ConfigError].
func NewGrant(l Layout, worker int64, from, until time.Time) (*Grant, error) {
	s, err := l.shape()
	if err != nil {
		return nil, err
	}
	var faults []FieldError
	if err := s.checkWorker(worker); err != nil {
		faults = append(faults, *err)
	}
	if from.IsZero() {
		from = s.layout.Epoch
	}
	if !s.contains(from) {
		faults = append(faults, FieldError{"from", format(from), "must lie within the layout's time, " + format(s.layout.Epoch) + " to " + format(s.end)})
	}
	if !until.IsZero() && until.Before(from) {
		faults = append(faults, FieldError{"until", format(until), "must not lie before from, " + format(from)})
	}
	if err := configError(faults); err != nil {
		return nil, err
	}
	bound := uint64(noBound)
	if !until.IsZero() {
		bound = s.untilTick(until)
	}
	return newGrant(s, worker, s.tickFrom(from), bound), nil
}

func newGrant(s *shape, worker int64, from, until uint64) *Grant {
	g := &Grant{shape: s, worker: worker, from: from, bound: until != noBound, risen: make(chan struct{}), done: make(chan struct{}), reached: make(chan struct{}, 1)}
	g.until.Store(until)
	return g
}

// untilTick is the first tick that does not begin before t.
func (s *shape) untilTick(t time.Time) uint64 {
	switch {
	case !t.After(s.layout.Epoch):
		return 0
	case !t.Before(s.end):
		return s.lastTick + 1
	}
	return min(s.tickFrom(t), s.lastTick+1)
}

func (s *shape) checkWorker(worker int64) *FieldError {
	if worker >= 0 && uint64(worker) <= s.workerMax {
		return nil
	}
	return &FieldError{"Worker", fmt.Sprint(worker), fmt.Sprintf("must be 0 to %d in this layout (%d datacenter and %d worker bits)", s.workerMax, s.layout.DatacenterBits, s.layout.WorkerBits)}
}

// Raise lifts the end of the grant to `until`, once that has been recorded
// durably, and clears what SetFenceError has set. It never lowers the end, and
// does nothing to a grant that is revoked or has no bound.
func (g *Grant) RaiseFence(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.bound || g.cause != nil {
		return
	}
	g.fault = nil
	if tick := g.shape.untilTick(until); tick > g.until.Load() {
		g.until.Store(tick)
		g.announce()
	}
}

// SetFenceError makes a call that reaches the end of the grant fail at once with an
// [ErrFenced] that wraps err, instead of waiting for Config.MaxWait. A [Worker] sets
// it while it cannot raise the end. Ids below the end are issued as before. Raise
// and a nil err clear it.
func (g *Grant) SetFenceError(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.fault
	g.fault = err
	if before == nil && err != nil {
		g.announce() // the calls that wait now fail as well
	}
}

// Reached receives a value when a generator has reached the end of the grant and
// waits for it to rise, so that a [Worker] can raise it early. Each grant has one
// channel, which holds at most one value.
func (g *Grant) FenceReached() <-chan struct{} { return g.reached }

// noteReached is called by a generator that begins to wait at the end.
func (g *Grant) noteReached() {
	select {
	case g.reached <- struct{}{}:
	default:
	}
}

// Revoke ends the grant: from now on its generator answers [ErrLost], which
// wraps err. An id that is being issued at this moment may still come out; it
// lies below `until`.
func (g *Grant) Revoke(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return
	}
	g.cause = ErrLost
	if err != nil {
		g.cause = fmt.Errorf("%w: %w", ErrLost, err)
	}
	g.until.Store(0)
	g.announce()
}

// Close revokes the grant and gives the first instant that no id of it carries:
// when Close returns, no id is issued under the grant any more, at or after
// that instant or before it. What lies beyond can be given back. Where no id was
// issued at all, that is the grant's beginning.
func (g *Grant) Close() (firstUnused time.Time) {
	g.Revoke(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.run == nil {
		g.over()
	}
	return g.unused()
}

// unused closes the run, if there is one, and gives the first instant that no
// id carries; g.mu is held. A run that has issued nothing counts for nothing:
// NotBefore, or a clock that was wrong, may have put its beginning anywhere.
func (g *Grant) unused() time.Time {
	if g.run != nil {
		end := g.run.close()
		if g.high > 0 || g.run.final != g.run.first {
			return g.run.shape.startOf(max(end, g.high))
		}
	}
	if g.shape == nil {
		return g.after
	}
	return g.shape.startOf(g.from)
}

// attach ties the grant to a generator's run.
func (g *Grant) attach(r *run) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return g.cause
	}
	if g.run != nil || g.closed {
		return ErrInUse
	}
	g.run = r
	return nil
}

// lostUnused reports whether the grant was revoked before any generator had taken it.
func (g *Grant) lostUnused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause != nil && g.run == nil
}

// lift lets a run that nobody draws from yet begin at the tick `first`, if that
// is later than where it stands.
func (g *Grant) lift(r *run, first uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if word := r.shape.wordAt(first); word > r.first && r.word.Load() != closedWord {
		r.first = word
		r.word.Store(word)
	}
}

// pass ends the run and puts another of the same generator in its place. It
// gives the first tick that the old one never issued in.
func (g *Grant) pass(from, to *run) (unused uint64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return 0, g.cause
	}
	unused = from.close()
	g.high = max(g.high, unused)
	g.run = to
	return unused, nil
}

// used is the first tick above those of the runs that were passed on.
func (g *Grant) used() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.high
}

// announce wakes the calls that wait for until to rise; g.mu is held.
func (g *Grant) announce() {
	close(g.risen)
	g.risen = make(chan struct{})
}

// watch returns the cause of a revoked grant, the error of SetFenceError, and a
// channel that is closed at the next change.
func (g *Grant) watch() (risen <-chan struct{}, cause, fault error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.risen, g.cause, g.fault
}

// singleGrant gives out one grant at a time, each above the one before it.
type singleGrant struct {
	mu  sync.Mutex
	out *Grant
}

func (s *singleGrant) replace(worker int64) (*Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := newGrant(nil, worker, 0, noBound)
	if s.out != nil {
		if !s.out.isOver() {
			return nil, ErrInUse
		}
		next.after = s.out.Close()
	}
	s.out = next
	return next, nil
}
