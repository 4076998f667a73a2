package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// afterClose is called when a call finds its allocator closed. It returns nil if another one has
// replaced it. If the grant was lost, it asks for another grant.
func (g *Generator) afterClose(ctx context.Context, a *allocator, regrants *int) error {
	if g.life.Err() != nil {
		return ErrClosed
	}
	if g.current.Load() != a {
		return nil
	}
	if _, revoked, _ := a.grant.watch(); revoked != nil {
		return g.replaceLost(ctx, a, regrants, revoked)
	}
	g.mu.Lock() // waits for the goroutine that replaces it, or for Close
	defer g.mu.Unlock()
	if g.life.Err() != nil || g.current.Load() == a {
		return ErrClosed
	}
	return nil
}

// replaceLost reports the loss of a grant, once, and asks for another grant.
func (g *Generator) replaceLost(ctx context.Context, a *allocator, regrants *int, cause error) error {
	if a.lossReported.CompareAndSwap(false, true) {
		g.observe(GrantLost, 0, cause)
	}
	err := g.regrant(ctx, a, regrants, RegrantLost)
	if err == nil || errors.Is(err, ErrClosed) || isContextError(ctx, err) {
		return err
	}
	return fmt.Errorf("%w; no replacement grant: %w", cause, err)
}

// isContextError reports whether ctx is done and err wraps its error. While ctx is not done, the same error
// from a GrantSource has another cause.
func isContextError(ctx context.Context, err error) bool {
	done := ctx.Err()
	return done != nil && errors.Is(err, done)
}

// regrant asks the source for another grant in place of a's, and installs it. One goroutine asks,
// and the others wait for it. regrants counts how often one call has asked.
func (g *Generator) regrant(ctx context.Context, a *allocator, regrants *int, why RegrantReason) error {
	if *regrants++; *regrants > maxGrants {
		return fmt.Errorf("%w: none of %d grants could be used", ErrLost, maxGrants)
	}
	// Asking, and waiting for the goroutine that asks, may take MaxWait together.
	ask, cancel := context.WithTimeout(ctx, g.maxWait)
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()
	failed := func(err error) error {
		switch {
		case g.life.Err() != nil:
			return ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		case ask.Err() != nil:
			return fmt.Errorf("%w: %T did not return another grant within Config.MaxWait, %v", ErrLost, g.source, g.maxWait)
		}
		return err
	}
	select {
	case g.regranting <- struct{}{}:
		defer func() { <-g.regranting }()
	case <-ask.Done():
		return failed(nil)
	}
	if g.current.Load() != a {
		return nil // another goroutine has replaced it
	}
	a.grant.reason.Store(uint32(why))
	grant, err := g.source.Grant(ask, a.grant)
	if err != nil {
		return failed(err)
	}
	if grant == a.grant && why == RegrantExhausted {
		return nil // its fence has risen
	}
	if grant == nil || grant == a.grant {
		return fmt.Errorf("%w: %T returned no other grant and no error", ErrLost, g.source)
	}
	if err := grant.attach(); errors.Is(err, ErrInUse) {
		return failed(err)
	} else if err != nil {
		return nil // it was revoked just now: the caller looks again, and asks for another one
	}
	installed := false
	defer func() {
		if !installed { // after an error, a panic in Config.Now, or if another call has replaced the allocator
			grant.Close()
		}
	}()
	if installed, err = g.install(a, grant, why == RegrantRotate); installed {
		g.observe(GrantReplaced, 0, nil)
	}
	return err
}

// install closes allocator a and replaces it by one for the new grant, unless another call has replaced
// it. If rotate, ids continue from the present, which may be below the last id.
func (g *Generator) install(a *allocator, grant *Grant, rotate bool) (installed bool, err error) {
	l := g.layout
	at, now, _ := a.limits() // not under the lock: Config.Now and the Observer may call the generator
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life.Err() != nil {
		return false, ErrClosed
	}
	if g.current.Load() != a {
		return false, nil
	}
	if err := g.checkGrant(grant); err != nil {
		return false, err
	}
	lowest := max(g.workerMarks[grant.worker], g.notBefore)
	if grant.after.After(l.Epoch) { // the end of the ids of another generator with the same Fixed
		if !grant.after.Before(l.end) {
			return false, ErrTimestampExhausted
		}
		lowest = max(lowest, l.tickFrom(grant.after))
		g.raiseMark(grant.worker, lowest) // a roll-back must not go below it either
	}
	if rotate && grant.worker == a.grant.worker {
		return false, fmt.Errorf("%w: worker ID %d was given again", ErrLost, grant.worker)
	}
	if rotate && lowest > max(now+1, grant.first) {
		return false, fmt.Errorf("%w: worker ID %d may not begin before %s", ErrLost, grant.worker, formatTime(l.startOf(lowest)))
	}
	next := newAllocator(&g.shared, grant, 0, 0)
	inherited := a.grantClock // ids continue above those of the old allocator
	if rotate {
		inherited = grantClock{shows: noOffset}
	}
	next.startClock(inherited, at)
	// Only closing the old allocator shows where its ids end.
	mark := max(a.close().lastIssued+1, a.grant.mark())
	g.raiseMark(a.grant.worker, mark)
	first := max(now+grant.skip, lowest, g.workerMarks[grant.worker])
	if !rotate {
		first = max(first, mark)
	}
	next.raiseFirst(first)
	g.passed += a.slotsPassed()
	g.rollbackMarks = nil
	grant.allocator.Store(next)
	g.current.Store(next)
	a.grant.end()
	return true, nil
}

// raiseMark raises the high-water mark of a worker ID: the first tick above its ids. The mark
// counts if the source gives that worker ID again.
func (g *Generator) raiseMark(worker int64, tick uint64) {
	if g.workerMarks == nil {
		g.workerMarks = make(map[int64]uint64)
	}
	g.workerMarks[worker] = max(g.workerMarks[worker], tick)
}

// rollBack continues from the present under another value of the roll-back field: the lowest one
// whose high-water mark is not above the present.
func (g *Generator) rollBack(a *allocator, back time.Duration) error {
	_, _, limit := a.limits() // not under the lock, as in install
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life.Err() != nil {
		return ErrClosed
	}
	if g.current.Load() != a {
		return nil
	}
	if p := a.position(0); p.closed || p.lastIssued <= limit {
		return nil // lost, or the clock has caught up by now
	}
	unused := max(a.grant.first, g.notBefore, g.workerMarks[a.grant.worker]) // where a value that was never used may begin
	if len(g.rollbackMarks) == 0 {
		g.rollbackMarks = []uint64{unused} // of the current value, 0
	}
	value := uint64(len(g.rollbackMarks))
	for v, mark := range g.rollbackMarks {
		if uint64(v) != a.rollback && mark <= limit {
			value = uint64(v)
			break
		}
	}
	if value == uint64(len(g.rollbackMarks)) { // it was never used
		if value > g.layout.rollbackMax || unused > limit {
			return &ClockError{Back: back}
		}
		g.rollbackMarks = append(g.rollbackMarks, unused)
	}
	next := newAllocator(&g.shared, a.grant, value, limit)
	next.grantClock = a.grantClock
	mark, err := a.grant.swap(a, next)
	if err != nil {
		return nil // revoked just now: the caller looks again, and asks for another grant
	}
	g.rollbackMarks[a.rollback] = mark
	g.passed += a.slotsPassed()
	g.current.Store(next)
	return nil
}
