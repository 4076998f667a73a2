package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ended is called when a run's word is closed: it says why, or nothing where
// another run has taken its place.
func (g *Generator) ended(ctx context.Context, r *run, w *waiting) error {
	select {
	case <-g.done:
		return ErrClosed
	default:
	}
	if g.run.Load() != r {
		return nil
	}
	if _, cause, _ := r.grant.watch(); cause != nil {
		return g.replaceLost(ctx, r, w, cause)
	}
	g.mu.Lock() // waits for the one that is replacing the run, or for Close
	defer g.mu.Unlock()
	if g.closed || g.run.Load() == r {
		return ErrClosed
	}
	return nil
}

// replaceLost asks for another grant after the loss of one.
func (g *Generator) replaceLost(ctx context.Context, r *run, w *waiting, cause error) error {
	if r.lossTold.CompareAndSwap(false, true) {
		g.observe(GrantLost, 0, cause)
	}
	if err := g.replace(ctx, r, w, RegrantLost); err != nil {
		if errors.Is(err, ErrClosed) || isContexts(ctx, err) {
			return err
		}
		return fmt.Errorf("%w, and there is no other: %w", cause, err)
	}
	return nil
}

// isContexts reports whether the error is that the context is done. One that came just
// before is the Worker's still, and must be told as a loss.
func isContexts(ctx context.Context, err error) bool {
	done := ctx.Err()
	return done != nil && errors.Is(err, done)
}

// maxReplaced is how many grants one call may go through without an id.
const maxReplaced = 8

// replace asks the Worker for another grant in the place of r's and goes on
// under that. One goroutine asks, the others wait for it. With RegrantRotate the
// other worker number may begin below the last id.
func (g *Generator) replace(ctx context.Context, r *run, w *waiting, why RegrantReason) error {
	if w.replaced++; w.replaced > maxReplaced {
		return fmt.Errorf("%w: none of %d grants could be used", ErrLost, maxReplaced)
	}
	// The Worker, and whoever asks it, get MaxWait and no longer.
	ask, cancel := context.WithTimeout(ctx, g.maxWait)
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()
	late := func(err error) error {
		switch {
		case g.life.Err() != nil:
			return ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		case ask.Err() != nil:
			return fmt.Errorf("%w: %T did not give another grant within Config.MaxWait, %v", ErrLost, g.worker, g.maxWait)
		}
		return err
	}
	select {
	case g.asking <- struct{}{}:
		defer func() { <-g.asking }()
	case <-ask.Done():
		return late(nil)
	}
	if g.run.Load() != r {
		return nil // somebody else has
	}
	r.grant.asked.Store(uint32(why))
	grant, err := g.worker.Grant(ask, r.grant)
	if err != nil {
		return late(err)
	}
	if grant == r.grant && why == RegrantExhausted {
		return nil // its end has risen
	}
	if grant == nil || grant == r.grant {
		return fmt.Errorf("%w: %T gave no other grant and no error", ErrLost, g.worker)
	}
	defer func() {
		if !grant.Attached() { // an error, a panic in Config.Now, or another call went on without it
			grant.Close()
		}
	}()
	if err := g.succeed(r, grant, why == RegrantRotate); err != nil {
		if grant.lostUnused() {
			return nil // the caller looks again, and asks again
		}
		return err
	}
	if grant.Attached() {
		g.observe(GrantReplaced, 0, nil)
	}
	return nil
}

// suits reports what keeps a grant from serving this generator, for all that its
// layout and number are right.
func (g *Generator) suits(grant *Grant) error {
	switch {
	case g.policy.answer == detached && !grant.bound:
		return configError([]FieldError{{"ClockPolicy.Detached", "true", "needs a grant with a durable bound"}})
	case g.policy.answer != detached && !g.clock.reaches(grant.from):
		return configError([]FieldError{{"from", format(g.shape.startOf(grant.from)), "lies more than 146 years ahead of the clock"}})
	}
	return nil
}

// succeed closes the run and opens one of the new grant.
func (g *Generator) succeed(r *run, grant *Grant, lower bool) error {
	s := g.shape
	if grant.shape != nil && !s.same(grant.shape) {
		return configError([]FieldError{{"Layout", grant.shape.layout.String(), "the next grant must be of the generator's layout, " + s.layout.String()}})
	}
	if fault := s.checkWorker(grant.worker); fault != nil {
		return configError([]FieldError{*fault})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	if g.run.Load() != r {
		return nil
	}
	now, _ := g.limits(r)
	begin := max(g.usedBy[grant.worker], g.notBefore)
	if grant.after.After(s.layout.Epoch) { // where a Fixed has come to elsewhere
		if !grant.after.Before(s.end) {
			return ErrTimestampExhausted
		}
		begin = max(begin, s.tickFrom(grant.after))
		g.noteUsed(grant.worker, begin) // a roll-back must not go below it either
	}
	if err := g.suits(grant); err != nil {
		return err
	}
	if lower && grant.worker == r.grant.worker {
		return fmt.Errorf("%w: worker %d was given again", ErrLost, grant.worker)
	}
	if lower && begin > max(now+1, grant.from) {
		return fmt.Errorf("%w: worker %d may begin no earlier than %s", ErrLost, grant.worker, format(s.startOf(begin)))
	}
	next := newRun(s, grant, 0, 0, g.policy)
	inherited := r.granted // ids go on above those of the old run
	if lower {
		inherited = noLine
	}
	g.carryOn(next, inherited)
	if err := grant.attach(next); err != nil {
		return err // and the old run goes on, if it can
	}
	// Only when the old word is closed is it known where ids have come to.
	used := max(r.close(), r.grant.used())
	g.noteUsed(r.grant.worker, used)
	first := max(now+1, begin, g.usedBy[grant.worker]) // as for a new generator: who had the number may have issued a moment ago
	if !lower {
		first = max(first, used)
	}
	grant.lift(next, first)
	g.before += r.passed()
	g.marks = nil
	g.run.Store(next)
	r.grant.letGo()
	return nil
}

// noteUsed remembers how far the ids of a worker number have come, in case the
// Worker gives the number again.
func (g *Generator) noteUsed(worker int64, tick uint64) {
	if g.usedBy == nil {
		g.usedBy = make(map[int64]uint64)
	}
	g.usedBy[worker] = max(g.usedBy[worker], tick)
}

// takeRollback goes on under another value of the roll-back field.
func (g *Generator) takeRollback(r *run, back time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	if g.run.Load() != r {
		return nil
	}
	_, now := g.limits(r)
	bits := g.shape.layout.SequenceBits
	if word := r.word.Load(); word == closedWord || (word-1)>>bits <= now {
		return nil // lost, or the clock has caught up meanwhile
	}
	value := uint64(len(g.marks))
	for v, mark := range g.marks {
		if uint64(v) != r.rollback && mark <= now {
			value = uint64(v)
			break
		}
	}
	unused := max(r.grant.from, g.notBefore, g.usedBy[r.grant.worker]) // where a value that was never used may begin
	if value == r.rollback {
		value++
	}
	if value > g.shape.rollbackMax || value >= uint64(len(g.marks)) && unused > now {
		return &ClockError{Back: back}
	}
	for uint64(len(g.marks)) <= max(value, r.rollback) {
		g.marks = append(g.marks, unused)
	}
	next := newRun(g.shape, r.grant, value, now, g.policy)
	next.granted = r.granted
	mark, err := r.grant.pass(r, next)
	if err != nil {
		return nil // revoked this moment: the caller looks again, and asks for another grant
	}
	g.marks[r.rollback] = mark
	g.before += r.passed()
	g.run.Store(next)
	return nil
}
