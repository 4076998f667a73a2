package core

import (
	"context"
	"fmt"
	"time"
)

// waiting is what one call has waited so far.
type waiting struct {
	began time.Time
	timer *time.Timer
}

// await is called when there was no place to take. It waits until there may be
// one, or gives the error that says why there is none. It holds no lock.
func (g *Generator) await(ctx context.Context, r *run, w *waiting) error {
	word := r.word.Load()
	if word == closedWord {
		return g.ended(r)
	}
	risen, cause := r.grant.watch()
	if cause != nil {
		return cause
	}
	now, ceiling := g.clock.read()
	if !g.policy.carry {
		ceiling = now
	}
	s := r.shape
	bits := s.layout.SequenceBits
	tick := max(word>>bits, now)
	if tick > s.lastTick {
		return fmt.Errorf("%w: it ended at %s", ErrTimeOver, format(s.end))
	}
	until := r.grant.until.Load()
	if tick >= until {
		return g.pause(ctx, w, g.maxWait, risen, func() error {
			return fmt.Errorf("%w: ids have reached %s, and after %v it has not risen", ErrFenced, format(s.startOf(until)), g.maxWait)
		})
	}
	if tick <= r.last(ceiling) {
		return nil // a place has come meanwhile
	}
	// The tick that must be reached for this one to be allowed.
	need := tick - min(r.ahead, tick)
	d := g.clock.until(need, !g.policy.carry)
	if lastIssued := (word - 1) >> bits; now < lastIssued && (!g.policy.carry || d > g.maxWait) {
		back := s.startOf(lastIssued).Sub(s.startOf(now))
		if !g.policy.carry {
			return &ClockError{Back: back}
		}
		return &ClockError{Back: back, Tolerated: g.maxWait}
	}
	tooLong := func() error {
		return fmt.Errorf("%w: the next place comes in %v, and at most %v may be waited", ErrSequenceExhausted, d, g.maxWait)
	}
	if d > g.maxWait {
		return tooLong()
	}
	return g.pause(ctx, w, d, nil, tooLong)
}

// pause waits for d, or for the grant to rise, but never past MaxWait in all.
func (g *Generator) pause(ctx context.Context, w *waiting, d time.Duration, risen <-chan struct{}, tooLong func() error) error {
	if w.began.IsZero() {
		w.began = time.Now()
		g.stats.waited.Add(1)
	}
	left := g.maxWait - time.Since(w.began)
	if left <= 0 {
		return tooLong()
	}
	if deadline, ok := ctx.Deadline(); ok && d > time.Until(deadline) && risen == nil {
		// No place will come in time; say so now, and let others have the time.
		return fmt.Errorf("%w: the next place comes in %v, after the deadline", context.DeadlineExceeded, d)
	}
	d = min(d, left)
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	defer w.timer.Stop()
	select {
	case <-w.timer.C:
	case <-risen:
	case <-g.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// ended says why a run's word is closed.
func (g *Generator) ended(r *run) error {
	select {
	case <-g.done:
		return ErrClosed
	default:
	}
	if _, cause := r.grant.watch(); cause != nil {
		return cause
	}
	return ErrClosed // Close is between its two steps
}
