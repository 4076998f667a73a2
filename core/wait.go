package core

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// waiting is what one call has waited so far.
type waiting struct {
	began    time.Time
	rounds   int
	counted  bool // in Stats, as one that waits
	full     bool // and as one for which a tick was full
	fenced   bool // has waited for a grant's end to rise, in vain
	late     bool // its time is over, and it looks for the last time
	timer    *time.Timer
	spins    int
	replaced int // grants gone through
}

// await is called when there was no place to take. It waits until there may be
// one, or finds one that was left over, or gives the error that says why there
// is none. It holds no lock while it waits.
func (g *Generator) await(ctx context.Context, r *run, w *waiting, single bool) (place uint64, ok bool, err error) {
	if w.rounds++; w.rounds == 1 {
		w.began = time.Now()
	}
	word := r.word.Load()
	if word == closedWord {
		return 0, false, g.ended(ctx, r, w)
	}
	risen, cause, fault := r.grant.watch()
	if cause != nil {
		return 0, false, g.replaceLost(ctx, r, w, cause)
	}
	s := r.shape
	bits := s.layout.SequenceBits
	now, ceiling := g.limits(r)
	tick := max(word>>bits, now)
	if tick > s.lastTick {
		return 0, false, fmt.Errorf("%w: it ended at %s", ErrTimestampExhausted, format(s.end))
	}
	if until := r.grant.until.Load(); tick >= until {
		return 0, false, g.fenced(ctx, r, w, until, risen, fault)
	}
	if waited := time.Since(w.began); waited/2 > max(g.maxWait, g.policy.max) { // places that come and go, as with a clock that jumps to and fro
		if w.lookAgain() {
			return 0, false, nil
		}
		return 0, false, g.tooLong(fmt.Errorf("%w: no place was found in %v", ErrSequenceExhausted, waited))
	}
	if tick <= r.last(ceiling) {
		return 0, false, nil // a place has come meanwhile
	}
	need := tick - min(r.ahead, tick) // the tick that the clock must reach
	d := g.until(r, need)
	if lastIssued := (word - 1) >> bits; now < lastIssued {
		if !g.policy.carry && ceiling < lastIssued {
			return g.wentBack(ctx, r, w, single, ceiling, lastIssued, d, risen)
		}
		if back := s.startOf(lastIssued).Sub(s.startOf(now)); word == r.first && d > g.maxWait { // not a step back, which the carried clock does not know, but NotBefore
			return 0, false, g.tooLong(&ClockError{Back: back, Tolerated: g.maxWait})
		}
	}
	if !w.full && word&s.seqMax == 0 && word != r.first && d <= g.maxWait {
		w.full = true
		g.stats.exhausted.Add(1)
	}
	return 0, false, g.pause(ctx, w, d, g.maxWait, true, risen, func() error {
		return fmt.Errorf("%w: the next place comes in %v, and at most %v may be waited", ErrSequenceExhausted, d, g.maxWait)
	})
}

// lookAgain is true once, when the time of a call is over: it may have stood still,
// as a goroutine or the whole process may at any point, and what it has seen is old.
func (w *waiting) lookAgain() bool {
	first := !w.late
	w.late = true
	return first
}

// until is how long the clock takes to allow a tick.
func (g *Generator) until(r *run, tick uint64) time.Duration {
	elapsed, wall, carried := g.clock.lines()
	return time.Duration(max(g.clock.startOf(tick)-g.line(r, elapsed, wall, carried), 0))
}

// wentBack does what the ClockPolicy says when the clock stands at the tick now,
// behind lastIssued, and reaches the next place in d.
func (g *Generator) wentBack(ctx context.Context, r *run, w *waiting, single bool, now, lastIssued uint64, d time.Duration, risen <-chan struct{}) (place uint64, ok bool, err error) {
	back := r.shape.startOf(lastIssued).Sub(r.shape.startOf(now))
	switch g.policy.answer {
	case wait:
		limit := g.policy.max
		if limit == 0 {
			limit = g.maxWait
		}
		return 0, false, g.pause(ctx, w, d, limit, true, risen, func() error { return &ClockError{Back: back, Tolerated: limit} })
	case rollBack:
		if err := g.takeRollback(r, back); err != nil {
			return 0, false, g.tooLong(err)
		}
		return 0, false, nil
	case reuse:
		if single && back <= g.policy.window {
			bits := r.shape.layout.SequenceBits
			if place, ok = r.left.pop(now<<bits, g.oldest(lastIssued)<<bits); ok {
				r.reused.Add(1)
				return place, true, nil
			}
		}
		return 0, false, g.tooLong(&ClockError{Back: back, Tolerated: g.policy.window})
	case rotate:
		clockErr := &ClockError{Back: back}
		if err := g.replace(ctx, r, w, RegrantRotate); err != nil {
			return 0, false, g.tooLong(fmt.Errorf("%w, and there is no other worker number: %w", clockErr, err))
		}
		return 0, false, nil
	}
	return 0, false, g.tooLong(&ClockError{Back: back})
}

// fenced waits for the grant's end to rise; when it does not, another grant is
// asked for. If fault says that the end cannot rise, fenced fails at once: the caller
// may hold what the Worker needs to raise it, such as a connection.
func (g *Generator) fenced(ctx context.Context, r *run, w *waiting, until uint64, risen <-chan struct{}, fault error) error {
	if fault != nil {
		return g.tooLong(fmt.Errorf("%w: ids have reached %s: %w", ErrFenced, format(r.shape.startOf(until)), fault))
	}
	r.grant.noteReached()
	gaveUp := false
	refusal := func() error {
		gaveUp = true
		return fmt.Errorf("%w: ids have reached %s, and after %v it has not risen", ErrFenced, format(r.shape.startOf(until)), g.maxWait)
	}
	var err error
	if w.fenced { // another grant that is used up: one wait is enough
		err = g.tooLong(refusal())
	} else {
		err = g.pause(ctx, w, g.maxWait, g.maxWait, false, risen, refusal)
	}
	if !gaveUp {
		return err
	}
	switch none := g.replace(ctx, r, w, RegrantExhausted); {
	case none == nil || r.grant.until.Load() > until: // it has risen meanwhile
		*w = waiting{timer: w.timer, replaced: w.replaced, counted: w.counted, full: w.full, fenced: true}
		return nil
	case errors.Is(none, ErrClosed) || isContexts(ctx, none):
		return none
	case errors.Is(none, ErrLost): // the grant is not lost, so the error must not be taken for that
		return fmt.Errorf("%w; there is no other: %s", err, none.Error())
	default:
		return fmt.Errorf("%w; there is no other: %w", err, none)
	}
}

const (
	timerSlack = 1500 * time.Microsecond // by as much a timer may be late
	spinBelow  = 60 * time.Microsecond   // by as much a nap may be late
	maxSpins   = 2000
	shortWait  = 25 * time.Millisecond // up to here a wait is slept, without a timer to make
	slice      = 2 * time.Millisecond  // and looked at again as often: a change or a cancel may be as late
)

// pause waits for d, which is known or else the most that makes sense, or for a
// change of the grant, but no longer than limit in all;
// what cannot end within the limit, or before the context's deadline, is
// refused at once. It may end early: the caller looks again.
func (g *Generator) pause(ctx context.Context, w *waiting, d, limit time.Duration, known bool, risen <-chan struct{}, refusal func() error) error {
	left := limit - time.Since(w.began)
	if left <= 0 || known && d > left {
		if d <= limit && w.lookAgain() {
			return nil
		}
		return g.tooLong(refusal())
	}
	if deadline, ok := ctx.Deadline(); ok && known && d > time.Until(deadline) {
		return fmt.Errorf("%w: the next place comes in %v, after the deadline", context.DeadlineExceeded, d)
	}
	if !w.counted {
		w.counted = true
		g.stats.waited.Add(1)
	}
	d = min(d, left)
	// A timer is late by up to a millisecond, in which a tick may be lost. So it
	// takes the most of the wait, one goroutine naps through the rest, and the
	// last microseconds are spun. A clock that stands still meanwhile, as in a
	// test's bubble, is left to the timer.
	if known && d <= timerSlack && w.spins < maxSpins {
		if d <= spinBelow {
			w.spins++
			runtime.Gosched()
			return nil
		}
		if g.napping.CompareAndSwap(false, true) {
			before := time.Now()
			nap(d - spinBelow)
			g.napping.Store(false)
			if time.Since(before) == 0 {
				w.spins = maxSpins
			}
			return nil
		}
	} else if known && d > timerSlack {
		d -= timerSlack / 2
	}
	return g.sleep(ctx, w, d, risen)
}

// sleep waits for d, but no longer than a second, in which the clock may have
// been set; for a change of the grant; or for the end of either. A short wait
// may end early, the caller looks again.
func (g *Generator) sleep(ctx context.Context, w *waiting, d time.Duration, risen <-chan struct{}) error {
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
	case <-risen:
	case <-g.done: // the caller finds it closed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// tooLong tells the observer that a call gives up.
func (g *Generator) tooLong(err error) error {
	g.observe(WaitTimeout, 0, err)
	return err
}
