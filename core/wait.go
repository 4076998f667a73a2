package core

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// waitState is what one call has waited so far.
type waitState struct {
	began      time.Time
	rounds     int
	spins      int
	regrants   int
	timer      *time.Timer
	changed    <-chan struct{} // closed when the grant changes
	counted    bool            // in Stats.Waited
	exhausted  bool            // in Stats.Exhausted
	fenced     bool            // it has waited for a fence, in vain
	lookedLate bool            // its time is over, and it has looked once more
}

// restart begins another wait of the same call.
func (w *waitState) restart() {
	*w = waitState{timer: w.timer, counted: w.counted, exhausted: w.exhausted}
}

// mayLookAgain is true once, when the time of a call is over: the goroutine or the process may
// have been paused, and what it has seen may be outdated.
func (w *waitState) mayLookAgain() bool {
	first := !w.lookedLate
	w.lookedLate = true
	return first
}

// await is called when there is no slot to take. It waits until there may be one, or returns
// an unused one (ok), or the error that says why there is none. It holds no lock while it
// waits. single says that the call needs just one id.
func (g *Generator) await(ctx context.Context, a *allocator, w *waitState, single bool) (slot uint64, ok bool, err error) {
	if w.rounds++; w.rounds == 1 {
		w.began = time.Now()
	}
	cursor := a.cursor.Load()
	if cursor == closedCursor {
		return 0, false, g.afterClose(ctx, a, &w.regrants)
	}
	changed, revoked, fenceErr := a.grant.watch()
	if revoked != nil {
		return 0, false, g.replaceLost(ctx, a, &w.regrants, revoked)
	}
	w.changed = changed
	l := a.layout
	bits := l.SequenceBits
	now, maxTick := a.limits()
	tick := max(cursor>>bits, now)
	if tick > l.lastTick {
		return 0, false, fmt.Errorf("%w: it ended at %s", ErrTimestampExhausted, formatTime(l.end))
	}
	if fence := a.grant.fence.Load(); tick >= fence {
		return 0, false, g.awaitFence(ctx, a, w, fence, fenceErr)
	}
	if waited := time.Since(w.began); waited/2 > max(g.maxWait, g.policy.maxWait) { // slots come and go, as when the clock jumps back and forth
		if w.mayLookAgain() {
			return 0, false, nil
		}
		return 0, false, g.giveUp(fmt.Errorf("%w: found no slot in %v", ErrSequenceExhausted, waited))
	}
	if tick <= a.lastTick(maxTick) {
		return 0, false, nil // there is a slot meanwhile
	}
	d := a.timeUntil(tick - min(a.maxAhead, tick))
	if lastIssued := (cursor - 1) >> bits; now < lastIssued {
		if !g.policy.hybrid && maxTick < lastIssued {
			return g.applyPolicy(ctx, a, w, single, maxTick, lastIssued, d)
		}
		// Without a step back, which the hybrid clock does not know, this is NotBefore.
		if cursor == a.first && d > g.maxWait {
			back := a.startOf(lastIssued).Sub(a.startOf(now))
			return 0, false, g.giveUp(&ClockError{Back: back, Tolerated: g.maxWait})
		}
	}
	if !w.exhausted && cursor&l.sequenceMax == 0 && cursor != a.first && d <= g.maxWait {
		w.exhausted = true
		g.counters.exhausted.Add(1)
	}
	return 0, false, g.awaitClock(ctx, w, d, g.maxWait, func() error {
		return fmt.Errorf("%w: the next slot is in %v, and calls wait at most %v", ErrSequenceExhausted, d, g.maxWait)
	})
}

// applyPolicy does what the ClockPolicy says when the clock is at the tick now, behind
// lastIssued, and reaches the next slot in d.
func (g *Generator) applyPolicy(ctx context.Context, a *allocator, w *waitState, single bool, now, lastIssued uint64, d time.Duration) (slot uint64, ok bool, err error) {
	back := a.startOf(lastIssued).Sub(a.startOf(now))
	tolerated := time.Duration(0)
	switch g.policy.kind {
	case policyWait:
		if tolerated = g.policy.maxWait; tolerated == 0 {
			tolerated = g.maxWait
		}
		return 0, false, g.awaitClock(ctx, w, d, tolerated, func() error { return &ClockError{back, tolerated} })
	case policyRollback:
		if err = g.rollBack(a, back); err != nil {
			err = g.giveUp(err)
		}
		return 0, false, err
	case policyReuse:
		tolerated = g.policy.window
		if single && back <= tolerated {
			bits := a.layout.SequenceBits
			if slot, ok = a.unused.take(now<<bits, a.oldestUnused(lastIssued)<<bits); ok {
				a.reused.Add(1)
				return slot, true, nil
			}
		}
	case policyRotate:
		none := g.regrant(ctx, a, &w.regrants, RegrantRotate)
		if none != nil {
			none = g.giveUp(fmt.Errorf("%w, and there is no other worker ID: %w", &ClockError{Back: back}, none))
		}
		return 0, false, none
	}
	return 0, false, g.giveUp(&ClockError{back, tolerated})
}

// awaitFence waits for the fence to rise, and asks for another grant when it does not. If
// fenceErr says that it cannot rise, it fails at once: the caller may hold what the
// GrantSource needs to raise it, such as a connection.
func (g *Generator) awaitFence(ctx context.Context, a *allocator, w *waitState, fence uint64, fenceErr error) error {
	at := formatTime(a.startOf(fence))
	if fenceErr != nil {
		return g.giveUp(fmt.Errorf("%w at %s: %w", ErrFenced, at, fenceErr))
	}
	a.grant.signalReached()
	if !w.fenced { // one wait is enough, even if the next grant is exhausted too
		if left := g.maxWait - time.Since(w.began); left > 0 {
			g.countWait(w)
			return g.sleep(ctx, w, left)
		}
		if w.mayLookAgain() {
			return nil
		}
	}
	err := g.giveUp(fmt.Errorf("%w at %s, and it has not risen within %v", ErrFenced, at, g.maxWait))
	none := g.regrant(ctx, a, &w.regrants, RegrantExhausted)
	switch {
	case none == nil || a.grant.fence.Load() > fence: // it has risen meanwhile
		regrants := w.regrants
		w.restart()
		w.regrants, w.fenced = regrants, true
		return nil
	case errors.Is(none, ErrClosed) || isOf(ctx, none):
		return none
	case errors.Is(none, ErrLost): // this grant is not lost, so the error must not wrap that
		return fmt.Errorf("%w; there is no other grant: %s", err, none.Error())
	default:
		return fmt.Errorf("%w; there is no other grant: %w", err, none)
	}
}

const (
	timerSlack = 1500 * time.Microsecond // how late a timer may be
	spinBelow  = 20 * time.Microsecond   // how late preciseTimer may be
	maxSpins   = 2000
	shortWait  = 25 * time.Millisecond // up to here a call sleeps without a timer of its own,
	slice      = 2 * time.Millisecond  // in slices: it may notice a change or a cancellation this late
)

// awaitClock waits for d, or for a change of the grant, but no longer than limit in all. It
// refuses at once what cannot end within the limit, or before the context's deadline. It may
// return early: the caller looks again.
func (g *Generator) awaitClock(ctx context.Context, w *waitState, d, limit time.Duration, refusal func() error) error {
	left := limit - time.Since(w.began)
	if left <= 0 || d > left {
		if d <= limit && w.mayLookAgain() {
			return nil
		}
		return g.giveUp(refusal())
	}
	if deadline, ok := ctx.Deadline(); ok && d > time.Until(deadline) {
		return fmt.Errorf("%w: the next slot is in %v, after the deadline", context.DeadlineExceeded, d)
	}
	g.countWait(w)
	// A timer is late by up to a millisecond, which may cost a tick. So it takes most of the
	// wait, and one goroutine sleeps precisely through the rest, so that no tick begins unused.
	// It is late by some microseconds, so the shortest waits are spun.
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
		if !g.sleeper.sleep(d) {
			return g.sleep(ctx, w, d)
		}
		if time.Since(before) == 0 {
			w.spins = maxSpins
		}
	}
	return nil
}

func (g *Generator) countWait(w *waitState) {
	if !w.counted {
		w.counted = true
		g.counters.waited.Add(1)
	}
}

// sleep waits for d, but at most a second, in which the clock may have been set; for a change
// of the grant; or until the generator is closed or the context done. A short wait may end
// early.
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
	case <-g.life.Done(): // the caller finds the allocator closed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// giveUp reports the error with which a call gives up.
func (g *Generator) giveUp(err error) error {
	g.observe(WaitTimeout, 0, err)
	return err
}
