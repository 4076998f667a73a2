package worker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// An ask is a call of Grant. The owner answers it.
type ask struct {
	prev     *core.Grant
	fence    int64 // the lease's fence at the time of the call
	answered chan struct{}
	grant    *core.Grant
	err      error
}

// A wish is a generator's request for another worker ID.
type wish struct {
	reason core.RegrantReason
	since  time.Time // of the first call
	last   time.Time // of the last call
}

// wishLasts is how long a wish is valid after the generator's last call.
const wishLasts = time.Second

// Grant gives a generator its grant. A lease serves one generator at a time: with
// a nil prev the error is core.ErrInUse while the grant that was given last is not
// done (core.Grant.Done). When it is, as after the generator's Close or a core.New
// that failed, there is another grant of the same number, from the first instant
// that no id carries to the recorded bound.
//
// If prev is lost, or its generator needs another number, Grant returns the grant of
// another claim. The old number is released, with its unused time, as soon as the generator
// uses the new one. If prev is used up, Grant returns prev itself once its end has risen.
//
// Grant makes no request to the store. It waits for one that the lease makes. The request
// continues when ctx is done, and its outcome serves the next call. While the lease waits
// to retry after a failure, Grant fails at once with a [*RetryError].
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
	a := &ask{prev: prev, answered: make(chan struct{})}
	l.mu.Lock()
	if l.state >= releasing {
		defer l.mu.Unlock()
		return nil, l.err
	}
	a.fence = l.current.fence
	l.asks = append(l.asks, a)
	l.run()
	l.mu.Unlock()
	err := l.wait(ctx, a.answered)
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.asks, a); i >= 0 { // ctx is done; the lease's request continues
		l.asks = slices.Delete(l.asks, i, i+1)
		return nil, err
	}
	return a.grant, a.err
}

// answerAsks answers the calls of Grant, except those that wait for the store.
func (l *Lease) answerAsks() {
	l.asks = slices.DeleteFunc(l.asks, func(a *ask) bool {
		grant, err := l.answer(a)
		if grant == nil && err == nil {
			return false
		}
		a.reply(grant, err)
		return true
	})
}

// refuseAsks fails the calls of Grant that wait for a claim.
func (l *Lease) refuseAsks(err error) {
	for _, a := range l.asks {
		a.reply(nil, err)
	}
	l.asks = nil
}

func (a *ask) reply(grant *core.Grant, err error) {
	a.grant, a.err = grant, err
	close(a.answered)
}

// answer returns a grant or an error for a call. Neither means that the call waits for the
// store.
func (l *Lease) answer(a *ask) (*core.Grant, error) {
	prev := a.prev
	if l.state >= releasing {
		return nil, l.err
	}
	l.settle()
	if prev != nil && done(prev) {
		return nil, core.ErrClosed // its generator was closed after it had asked
	}
	if !l.hasLent(prev) {
		prev = nil // the grant is another Worker's: the call is for a new generator
	}
	if prev == nil && len(l.out) > 0 {
		return nil, fmt.Errorf("%w: a lease serves one generator at a time, close that one or acquire another lease", core.ErrInUse)
	}
	if prev != nil && l.current.grant != prev && l.current.handed && !done(l.current.grant) { // its caller did not pass it on to a generator
		if l.current.grant.Close(); !done(l.current.grant) {
			return nil, fmt.Errorf("%w: another generator has number %d", core.ErrInUse, l.current.claim.Worker)
		}
		l.settle()
	}
	h := l.current
	why := core.RegrantLost // by the generator before
	if prev != nil && prev == h.grant {
		why = prev.RegrantReason()
	} else if prev != nil && h.handed && prev.RegrantReason() == core.RegrantRotate {
		why = core.RegrantRotate
	}
	switch {
	case prev == nil && l.state == checking && l.stats.ClockAhead > 0:
		if l.claims.waiting() {
			return nil, l.stalledClaim()
		}
		return nil, nil
	case prev == nil && l.state == held && h.left() == 0 && l.renewal.failures == 0:
		h.renewAt = time.Now() // the span is past; a renewal extends it
		return nil, nil
	case !h.handed: // of the first claim, or of one that replaced prev's
		h.handed = true
		return l.lend(h.grant, prev), nil
	case why == core.RegrantExhausted:
		return l.usedUp(h, a.fence)
	case why == core.RegrantLost:
		// No generator uses the last grant any more, and up to the fence the span is this
		// lease's, even if the worker ID is lost.
		grant, err := l.regrant(h)
		if err != nil {
			return nil, err
		}
		return l.lend(grant, prev), nil
	}
	l.wish.last = time.Now()
	if l.state == rotating && l.claims.last.After(l.wish.since) || l.state == held && l.claims.waiting() {
		return nil, l.stalledClaim() // at once: the caller may hold the connection that the claim needs
	}
	if l.move(asked) {
		l.wish.reason, l.wish.since = why, l.wish.last
		if l.wish.since.Sub(l.claims.at) > maxDelay { // otherwise a claim failed a moment ago: its delay applies
			l.claims = retry{}
		}
	}
	return nil, nil
}

// usedUp answers a generator that has reached the fence, which was at `before` at the time
// of the call.
func (l *Lease) usedUp(h *holding, before int64) (*core.Grant, error) {
	if err := l.stalled(); err != nil {
		return nil, err
	}
	if h.fence > before {
		return h.grant, nil // it has risen
	}
	if now, _ := h.clock.read(); h.left() > 0 {
		return nil, fmt.Errorf("worker: ids have reached %s, and the lease's clock shows %s: either they are drawn faster than the layout allows, or the generator's clock is ahead: give both the same Config.Now", show(time.UnixMilli(h.fence)), show(now))
	}
	h.renewAt = time.Now() // the call waits for the renewal
	return nil, nil
}
