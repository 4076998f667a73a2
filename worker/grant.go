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
	fence    int64 // that the lease had when it was asked
	answered chan struct{}
	grant    *core.Grant
	err      error
}

// A wish is that of a generator for another worker ID.
type wish struct {
	reason core.Reason
	since  time.Time // when it asked first
	last   time.Time // and last
}

// wishLasts is how long a generator is taken to want another worker ID after it has asked.
const wishLasts = time.Second

// Grant gives a generator its grant. A lease serves one generator at a time: with
// a nil prev the error is core.ErrInUse while the grant that was given last is not
// done (core.Grant.Done). When it is, as after the generator's Close or a core.New
// that failed, there is another grant of the same number, from the first instant
// that no id carries to the recorded bound.
//
// For a prev that is lost or to be exchanged for another number, it is the grant of
// another claim. The number before is released, with the time it did not use, as soon as
// the generator has gone on to the other. A prev that is used up is not exchanged: it is
// given again when its end has risen.
//
// Grant makes no request to the store. It waits for the outcome of one that the lease
// makes, which goes on when ctx is done, and serves whoever asks next. While the lease
// waits to try again after a failure, Grant fails at once with a [*RetryError].
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
	if i := slices.Index(l.asks, a); i >= 0 { // ctx is done, and the lease goes on
		l.asks = slices.Delete(l.asks, i, i+1)
		return nil, err
	}
	return a.grant, a.err
}

// answerAsks answers the calls of Grant, but those that wait for the store.
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

// refuseAsks answers the calls of Grant that wait for a claim which has failed.
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

// answer gives the grant that answers a call, or an error, or nothing: the call waits for
// the store.
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
		prev = nil // the grant is another Worker's: this is for a new generator
	}
	if prev == nil && len(l.out) > 0 {
		return nil, fmt.Errorf("%w: a lease serves one generator at a time, close that one or acquire another lease", core.ErrInUse)
	}
	if prev != nil && l.current.grant != prev && l.current.handed && !done(l.current.grant) { // who passed it on has lost it on the way
		if l.current.grant.Close(); !done(l.current.grant) {
			return nil, fmt.Errorf("%w: another generator has number %d", core.ErrInUse, l.current.claim.Worker)
		}
		l.settle()
	}
	h := l.current
	why := core.AskedLost // by the generator before
	if prev != nil && prev == h.grant {
		why = prev.Asked()
	} else if prev != nil && h.handed && prev.Asked() == core.AskedRotate {
		why = core.AskedRotate
	}
	switch {
	case prev == nil && l.state == checking && l.stats.ClockAhead > 0:
		if l.claims.waiting() {
			return nil, l.stalledClaim()
		}
		return nil, nil
	case prev == nil && l.state == held && h.left() == 0 && l.renewal.failures == 0:
		h.renewAt = time.Now() // the span is past, and soon is not
		return nil, nil
	case !h.handed: // of the first claim, or one that was made in the place of prev's
		h.handed = true
		return l.lend(h.grant, prev), nil
	case why == core.AskedUsedUp:
		return l.usedUp(h, a.fence)
	case why == core.AskedLost:
		// Nobody issues under its last grant any more, and up to the fence it is this
		// lease's, also where the worker ID is lost.
		grant, err := l.regrant(h)
		if err != nil {
			return nil, err
		}
		return l.lend(grant, prev), nil
	}
	l.wish.last = time.Now()
	if l.state == rotating && l.claims.last.After(l.wish.since) || l.state == held && l.claims.waiting() {
		return nil, l.stalledClaim() // at once: who asks may hold the connection that the claim needs
	}
	if l.move(asked) {
		l.wish.reason, l.wish.since = why, l.wish.last
		if l.wish.since.Sub(l.claims.at) > maxDelay { // else it was asked a moment ago as well, in vain
			l.claims = retry{}
		}
	}
	return nil, nil
}

// usedUp answers a generator that has come to the fence, which was at `before` when it
// asked.
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
	h.renewAt = time.Now() // and the outcome is waited for
	return nil, nil
}
