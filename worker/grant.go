package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// lent is a grant that was handed to a generator.
type lent struct {
	grant *core.Grant
	after *core.Grant // the one it had then; nil: it was made with this one
}

// over reports whether no generator has the grant or will have it. A generator
// lets go of the one before only after it has taken the next: so where that is
// done and this was not taken, the generator was closed in between.
func (o lent) over() bool {
	return done(o.grant) || o.after != nil && done(o.after) && !o.grant.Attached()
}

func done(g *core.Grant) bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// Grant gives a generator its grant. A lease serves one generator at a time: with
// a nil prev the error is core.ErrInUse while the grant that was given last is not
// done (core.Grant.Done). When it is, as after the generator's Close or a core.New
// that failed, there is another grant of the same number, from the first instant
// that no id carries to the recorded bound.
//
// For a prev that is lost or used up, or to be exchanged for another number, it is
// the grant of another claim. The number before is released, with the time it did not
// use, as soon as the generator has gone on to the other.
//
// Who calls Grant without being a generator closes what it gets.
func (l *Lease) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	if err := l.unmade(); err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.life.Done():
	}
	l.mu.Lock()
	grant, old, why, err := l.choose(prev)
	l.mu.Unlock()
	if old == nil {
		return grant, err
	}
	h, err := l.another(ctx, old, why)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lend(h.grant, prev), nil
}

// choose gives the grant that answers a request, or the holding in whose place
// another number is to be claimed, and why. l.claiming and l.mu are held.
func (l *Lease) choose(prev *core.Grant) (grant *core.Grant, old *holding, why core.Reason, err error) {
	if l.ended {
		return nil, nil, 0, l.err
	}
	l.settle()
	if !l.lentOut(prev) {
		prev = nil // the grant is another Worker's, or is done: this is for a new generator
	}
	if prev == nil && len(l.out) > 0 {
		return nil, nil, 0, fmt.Errorf("%w: a lease serves one generator at a time, close that one or acquire another lease", core.ErrInUse)
	}
	if prev != nil && l.cur.grant != prev && l.cur.handed && !done(l.cur.grant) { // who passed it on has lost it on the way
		if l.cur.grant.Close(); !done(l.cur.grant) {
			return nil, nil, 0, fmt.Errorf("%w: another generator has number %d", core.ErrInUse, l.cur.claim.Worker)
		}
		l.settle()
	}
	h := l.cur
	if prev != nil {
		why = prev.Asked()
	}
	switch _, leapt := h.clock.read(); {
	case !h.handed: // of the first claim, or one that was made when prev was lost
		h.handed = true
		return l.lend(h.grant, prev), nil, 0, nil
	case h.given, leapt && h.failing == nil, why == core.AskedRotate, prev == h.grant && why != core.AskedLost:
		return nil, h, why, nil
	}
	// Nobody issues under its last grant any more, and up to the bound it is this
	// lease's, also where the number is lost.
	grant, err = l.again(h)
	if err != nil {
		return nil, nil, 0, err
	}
	return l.lend(grant, prev), nil, 0, nil
}

// lend notes that a grant was handed out. l.mu is held.
func (l *Lease) lend(grant, prev *core.Grant) *core.Grant {
	if !l.lentOut(prev) {
		prev = nil
	}
	l.out = append(l.out, lent{grant, prev})
	return grant
}

// lentOut reports whether a generator has the grant of this lease. l.mu is held.
func (l *Lease) lentOut(grant *core.Grant) bool {
	return grant != nil && slices.ContainsFunc(l.out, func(o lent) bool { return o.grant == grant })
}

// settle looks what generators have done with what they were given. One may have
// stayed with a number that was exchanged, because the other would not do: then that
// is kept on, and the other given up. l.claiming and l.mu are held.
func (l *Lease) settle() {
	l.out = slices.DeleteFunc(l.out, lent.over)
	if l.ended || !l.cur.handed || !done(l.cur.grant) {
		return
	}
	if i := slices.IndexFunc(l.retired, func(r *holding) bool { return !done(r.grant) && r.lost == nil }); i >= 0 {
		l.cur, l.retired[i] = l.retired[i], l.cur
		l.cur.due, l.cur.tries = time.Now(), 0
		l.retired[i].due, l.retired[i].tries = time.Now(), 0
		if l.retired[i].lost != nil {
			l.retired = slices.Delete(l.retired, i, i+1)
		}
	}
}

// again makes another grant of the number, of what the one before has left of its
// span. l.claiming and l.mu are held.
func (l *Lease) again(h *holding) (*core.Grant, error) {
	from, until := h.grant.Close(), time.UnixMilli(h.until)
	if from.After(until) { // the last tick is used up, and ends behind the bound
		until = from
	}
	grant, err := core.NewGrant(l.cfg.Layout, h.claim.Worker, from, until)
	if err != nil {
		return nil, fmt.Errorf("worker: number %d: %w", h.claim.Worker, err)
	}
	h.grant = grant
	return grant, nil
}

// another claims a number in the place of old's for the generator.
func (l *Lease) another(ctx context.Context, old *holding, why core.Reason) (*holding, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	l.mu.Lock()
	avoid, lead := old.claim.Worker, l.cfg.MaxLead
	_, leapt := old.clock.read()
	leave := old.given || leapt && old.failing == nil
	lost := old.lost != nil
	l.mu.Unlock()
	if why == core.AskedRotate {
		// It wants to go on lower than it was, and it has a number until then: so one
		// that begins ahead of the clock is of no use.
		lead = 0
	}
	switch {
	case lost:
		avoid, lead = -1, l.cfg.MaxLead
	case leave:
		// The clock has left the span behind, as after a long sleep. Nothing can be
		// issued in it any more, so the number may be claimed anew. Or that was tried
		// before, and the store has failed.
		// A renewal under way may find it released: that is no loss.
		l.mu.Lock()
		if old.lost == nil {
			old.lost = errLeapt
		}
		l.mu.Unlock()
		err := l.handBack(ctx, old)
		failed := err != nil && !errors.Is(err, ErrTaken)
		l.mu.Lock()
		if failed && old.lost == errLeapt { //nolint:errorlint // it is that very one
			old.lost = nil
		}
		old.due, old.tries = time.Now(), 0
		l.mu.Unlock()
		if failed {
			return nil, err
		}
		avoid, lead = -1, l.cfg.MaxLead
	}
	h, err := l.claim(ctx, avoid, lead)
	if err != nil {
		return nil, err
	}
	return h, l.adopt(old, h, true)
}

const errLeapt = constError("worker: the clock has leapt beyond the granted span")

// adopt puts a new claim in the place of the old one.
func (l *Lease) adopt(old, h *holding, handed bool) error {
	l.mu.Lock()
	if l.ended { // meanwhile
		err := l.err
		l.mu.Unlock()
		h.grant.Close()
		ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
		defer cancel()
		_ = l.release(ctx, h, h.claim.From)
		return err
	}
	l.cur = h
	h.handed = handed
	lost, before := old.lost, old.grant
	if lost == nil { // it is released when its generator has gone on, see step
		old.due, old.tries = time.Now(), 0
		l.retired = append(l.retired, old)
	}
	l.mu.Unlock()
	if lost != nil {
		before.Revoke(lost) // its generator asks for the new one at once
	}
	l.tell(Claimed, h, nil)
	select {
	case l.kick <- struct{}{}:
	default:
	}
	return nil
}
