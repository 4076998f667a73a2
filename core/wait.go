package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// waitState is the state of one call that waits.
type waitState struct {
	want       uint64          // how many slots the call still needs
	single     bool            // it is a Next
	began      time.Time       // of the wait; zero: it has not begun
	spins      int             // waits too short to sleep
	regrants   int             // how often it has asked for another grant
	timer      *time.Timer     // for long waits
	changed    <-chan struct{} // closed when the grant changes
	counted    bool            // it is counted in Stats.Waited
	exhausted  bool            // it is counted in Stats.Exhausted
	fenced     bool            // it has waited for a fence, in vain
	back       bool            // it has waited for a clock that stepped back
	lookedLate bool            // its time was over, and it has looked once more
	next       uint64          // the slot that it may reserve; 0: none
	reserved   chunk           // the slots that it waits for
}

// take takes the reserved slots, once the clock and the fence allow them. If there are none, it
// takes others. What was reserved from another allocator is given up: that one is closed.
func (w *waitState) take(a *allocator) (from, n uint64) {
	switch r := &w.reserved; {
	case r.allocator != a:
		*r = chunk{}
		from, n = a.take(w.want)
	case a.takeReserved(r.slotRange):
		from, n, *r = r.from, r.to-r.from, chunk{}
	}
	if n == 0 && w.single && a.unused != nil {
		return a.takeUnused()
	}
	return from, n
}

// restart begins another wait of the same call. What was counted is not counted again.
func (w *waitState) restart() {
	*w = waitState{want: w.want, single: w.single, timer: w.timer, counted: w.counted, exhausted: w.exhausted, reserved: w.reserved}
}

// end ends a call that does not need what it has reserved.
func (w *waitState) end() {
	if r := &w.reserved; r.allocator != nil {
		r.allocator.giveBack(r.slotRange)
	}
}

// mayLookAgain returns true once. A call whose time is over looks once more before it fails: the
// goroutine or the process may have been paused, and what it has seen may be outdated.
func (w *waitState) mayLookAgain() bool {
	first := !w.lookedLate
	w.lookedLate = true
	return first
}

// await is called when take found no slot. It waits until there may be one: then the caller takes
// again. It holds no lock while it waits.
//
// A call that waits lines up, at the cap, at the fence and after a step back: before it sleeps, it
// reserves the next slots. A call that cannot get its slots in time fails before it reserves any. No
// call reserves a slot whose time is past: if the clock is beyond the fence, calls do not line up.
func (g *Generator) await(ctx context.Context, a *allocator, w *waitState) error {
	if w.began.IsZero() {
		w.began = time.Now()
	}
	l := a.layout
	_, now, limit := a.limits()
	p := a.position(now)
	if p.closed {
		return g.afterClose(ctx, a, &w.regrants)
	}
	changed, revoked, fenceErr := a.grant.watch()
	if revoked != nil {
		return g.replaceLost(ctx, a, &w.regrants, revoked)
	}
	fence := a.grant.fence.Load()
	w.changed, w.next = changed, 0
	tick := max(p.next>>l.SequenceBits, now) // of the slots that the call waits for
	if w.reserved.allocator != nil {
		tick = w.reserved.from >> l.SequenceBits
	} else if p.next>>l.SequenceBits == tick { // otherwise it is before the clock
		w.next = p.next
	}
	switch waited := time.Since(w.began); {
	case tick > l.usableMax:
		return fmt.Errorf("%w: it ended at %s", ErrTimestampExhausted, formatTime(l.end))
	case tick >= fence:
		return g.awaitFence(ctx, a, w, fence, fenceErr)
	case waited/2 > max(g.maxWait, g.policy.maxWait):
		// Slots may come and go without end, as when the clock jumps back and forth.
		if w.mayLookAgain() {
			return nil
		}
		return g.giveUp(fmt.Errorf("%w: found no slot in %v, and calls wait at most %v", ErrSequenceExhausted, waited, g.maxWait))
	case tick <= a.lastAllowed(limit): // by now there is a slot
		if w.next > 0 && p.next < p.cursor { // which was given back: take would not find it
			a.reserve(&w.reserved, w.next, w.want)
		}
		return nil
	}
	d := a.timeUntil(tick)
	switch {
	case !g.policy.hybrid && limit < p.lastIssued:
		return g.applyPolicy(ctx, a, w, a.stepBack(p.lastIssued, limit), d)
	case !p.issued && now < p.lastIssued && d > g.maxWait:
		// The wall clock may have stepped back, but not what limits ids. So if there is no id yet, the
		// call waits for the allocator's first slot.
		return g.giveUp(g.notBegun(a))
	}
	if !w.exhausted && p.issued && tick > p.lastIssued && d <= g.maxWait {
		w.exhausted = true
		g.counters.exhausted.Add(1)
	}
	most := g.maxWait
	if w.back { // the line is as long as it was
		most += g.policy.maxWait
	}
	return g.awaitClock(ctx, a, w, d, most, func() error {
		return fmt.Errorf("%w: all ids before %s are issued or reserved; the next is due in %v, and the call has waited %v of at most %v",
			ErrSequenceExhausted, formatTime(l.startOf(tick)), d, time.Since(w.began), most)
	})
}

// applyPolicy does what the ClockPolicy says about a step back: the clock is behind the last id by back,
// and reaches the next slot in d.
func (g *Generator) applyPolicy(ctx context.Context, a *allocator, w *waitState, back, d time.Duration) error {
	var tolerated time.Duration
	switch g.policy.kind {
	case policyWait:
		tolerated = cmp.Or(g.policy.maxWait, g.maxWait)
		w.back = true
		return g.awaitClock(ctx, a, w, d, tolerated, func() error { return &ClockError{Back: back, Tolerated: tolerated} })
	case policyRollback:
		if err := g.rollBack(a, back); err != nil {
			return g.giveUp(err)
		}
		return nil
	case policyRotate:
		if err := g.regrant(ctx, a, &w.regrants, RegrantRotate); err != nil {
			return g.giveUp(fmt.Errorf("%w; no other worker ID: %w", &ClockError{Back: back}, err))
		}
		return nil
	case policyReuse:
		tolerated = g.policy.window
		if w.single && back <= tolerated && w.mayLookAgain() { // the clock may have stepped back since take
			return nil
		}
	}
	return g.giveUp(&ClockError{Back: back, Tolerated: tolerated})
}

// awaitFence waits for the fence to rise. If it does not, it asks for another grant. If
// fenceErr says that the fence cannot rise, it fails at once, because the caller may hold what
// the GrantSource needs to raise it, such as a connection.
func (g *Generator) awaitFence(ctx context.Context, a *allocator, w *waitState, fence uint64, fenceErr error) error {
	at := formatTime(a.layout.startOf(fence))
	if fence > 0 && g.notBefore >= fence { // 0: revoked
		if err := g.notBegun(a); err.Back > 0 { // a renewal now would not help
			return g.giveUp(err)
		}
	}
	if fenceErr != nil {
		return g.giveUp(fmt.Errorf("%w at %s: %w", ErrFenced, at, fenceErr))
	}
	a.grant.signalReached()
	if !w.fenced { // one wait is enough, even if the next grant is exhausted too
		if left := g.maxWait - time.Since(w.began); left > 0 {
			if !g.lineUp(a, w) {
				return nil
			}
			return g.sleep(ctx, w, left)
		}
		if w.mayLookAgain() {
			return nil
		}
	}
	err := g.giveUp(fmt.Errorf("%w at %s, and it has not risen within %v", ErrFenced, at, g.maxWait))
	regrantErr := g.regrant(ctx, a, &w.regrants, RegrantExhausted)
	switch {
	case regrantErr == nil || a.grant.fence.Load() > fence: // it has risen meanwhile
		regrants := w.regrants
		w.restart()
		w.regrants, w.fenced = regrants, true
		return nil
	case errors.Is(regrantErr, ErrClosed) || isContextError(ctx, regrantErr):
		return regrantErr
	case errors.Is(regrantErr, ErrLost): // this grant is not lost, so the error must not wrap that
		return fmt.Errorf("%w; no replacement grant: %s", err, regrantErr.Error())
	default:
		return fmt.Errorf("%w; no replacement grant: %w", err, regrantErr)
	}
}

// notBegun is the error of a call while the clock is behind the allocator's first id.
func (g *Generator) notBegun(a *allocator) *ClockError {
	tick := a.first >> a.layout.SequenceBits
	e := &ClockError{Back: time.Duration(a.clock.startOf(tick) - a.clock.read().wall), Tolerated: g.maxWait}
	if tick == g.notBefore && a.grant.after.IsZero() {
		e.NotBefore = a.layout.startOf(tick)
	}
	return e
}

const (
	timerSlack = 1500 * time.Microsecond // how late one of Go's timers may be
	spinBelow  = 20 * time.Microsecond   // how late preciseTimer may be; shorter waits are spun
	maxSpins   = 2000                    // after so many, a call sleeps: the clock may not advance
	shortWait  = 25 * time.Millisecond   // a shorter wait makes no timer: the call sleeps in slices
	slice      = 2 * time.Millisecond    // it notices a change or a cancellation at most this late
)

// awaitClock waits for d, or for a change of the grant. It fails at once if the wait cannot end
// before the context's deadline, or, with the error refusal, if the call would wait for more than most in
// all. It may return early: the caller looks again.
func (g *Generator) awaitClock(ctx context.Context, a *allocator, w *waitState, d, most time.Duration, refusal func() error) error {
	left := most - time.Since(w.began)
	if left <= 0 || d > left {
		if d <= most && w.mayLookAgain() {
			return nil
		}
		return g.giveUp(refusal())
	}
	if deadline, ok := ctx.Deadline(); ok && d > time.Until(deadline) {
		return fmt.Errorf("%w: the next slot is due in %v, after the deadline", context.DeadlineExceeded, d)
	}
	if !g.lineUp(a, w) {
		return nil
	}
	// One of Go's timers is late by up to a millisecond, which may cost a tick. So it ends early,
	// and one goroutine sleeps precisely for the rest, so that no tick begins unused. The precise
	// sleep is late by some microseconds too, so the shortest waits are spun.
	switch {
	case d > timerSlack:
		return g.sleep(ctx, w, d-timerSlack/2)
	case w.spins >= maxSpins:
		return g.sleep(ctx, w, d)
	case d <= spinBelow:
		w.spins++
		runtime.Gosched()
	default:
		before := time.Now()
		if !g.sleepPrecisely(d) {
			return g.sleep(ctx, w, d)
		}
		if time.Since(before) == 0 {
			w.spins = maxSpins
		}
	}
	return nil
}

// sleepPrecisely sleeps for less than about a millisecond. It reports false at once if another
// call of the generator sleeps so, or no timer is left.
func (g *Generator) sleepPrecisely(d time.Duration) bool {
	if !g.sleeping.TryLock() {
		return false
	}
	defer g.sleeping.Unlock()
	return platform{}.sleepPrecisely(d)
}

// lineUp reserves slots for a call that is about to sleep, and counts its wait. It reports false if
// another call was first: the caller looks again.
func (g *Generator) lineUp(a *allocator, w *waitState) bool {
	if w.next > 0 && !a.reserve(&w.reserved, w.next, w.want) {
		return false
	}
	if !w.counted {
		w.counted = true
		g.counters.waited.Add(1)
	}
	return true
}

// sleep waits for d, but for at most a second, because the clock may be set meanwhile. It ends
// early when the grant changes, the generator is closed or the context is done. A short wait is cut
// into slices, so it may end early without a reason.
func (g *Generator) sleep(ctx context.Context, w *waitState, d time.Duration) error {
	if d <= shortWait {
		time.Sleep(max(min(d, slice), spinBelow))
		return nil
	}
	d = min(d, time.Second)
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	defer w.timer.Stop()
	select {
	case <-w.timer.C:
	case <-w.changed:
	case <-g.life.Done(): // the caller will find the allocator closed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// giveUp reports and returns the error of a call that gives up.
func (g *Generator) giveUp(err error) error {
	g.observe(WaitTimeout, 0, err)
	return err
}
