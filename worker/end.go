package worker

import (
	"errors"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// close ends the lease for its generator at once; the owner then releases its claims. If
// the lease is over already, as after a loss, close only closes its grants.
func (l *lease) close(why error) {
	open := make([]*core.Grant, 0, 1)
	if l.current != nil {
		open = append(open, l.current.grant) // also when its worker ID is lost
	}
	for _, a := range l.retiring {
		open = append(open, a.grant)
	}
	if l.move(closed) {
		l.err = why
		if l.current != nil && l.current.lost == nil && !slices.Contains(l.retiring, l.current) {
			l.retire(l.current)
		}
		for _, c := range l.calls {
			if c.kind == renewCall {
				c.status = late
				c.cancel()
			}
		}
		l.failWaiters(why)
		l.claimRetry, l.renewRetry, l.fenced = retry{}, retry{}, time.Time{}
		l.endAcquire()
	}
	var loss *LostError
	if errors.As(why, &loss) { // ids continue up to the fence
		return
	}
	for _, g := range open {
		g.Close()
	}
}

// endAcquire lets acquire return.
func (l *lease) endAcquire() {
	select {
	case <-l.acquired:
	default:
		close(l.acquired)
	}
}

// closeDone closes Done.
func (l *lease) closeDone() { l.doneOnce.Do(func() { close(l.done) }) }

// wantsRelease reports whether the owner should (still) try to release an assignment.
func (l *lease) wantsRelease(a *assignment) bool {
	return l.state < releasing || l.releases > 0 || a.usage != releaseSent
}

// drained reports whether nothing is left to release, now or after the answer to a claim.
func (l *lease) drained() bool {
	return len(l.retiring) == 0 && !slices.ContainsFunc(l.calls, func(c *call) bool { return c.kind == claimCall && c.status == pending })
}

// finished reports whether the owner has nothing left to do.
func (l *lease) finished() bool {
	if l.state < releasing || l.busy() || l.resolves() {
		return false
	}
	if len(l.retiring) == 0 {
		l.move(drained)
		l.announce()
		return true
	}
	return !slices.ContainsFunc(l.retiring, l.wantsRelease)
}

// busy reports whether a call is under way that is not late.
func (l *lease) busy() bool {
	return slices.ContainsFunc(l.calls, func(c *call) bool { return c.status == pending })
}

// resolves reports whether a claim of unknown outcome is to be repeated, only to be released.
func (l *lease) resolves() bool { return l.claim != noClaim && l.claimRetry.failures <= maxResolves }

// maxResolves limits how often a claim is repeated only to be released.
const maxResolves = 5

// announce wakes the calls of Release.
func (l *lease) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// A closer is a store that only one generator uses: it is closed with the generator.
type closer interface{ CloseWithGenerator() error }

// closeStore closes the store if only this lease uses it. While the owner runs, as with a claim
// that is under way and must be released, the owner does that when it ends.
func (l *lease) closeStore() error {
	l.mu.Lock()
	l.storeOver = true
	s := l.owned
	if s == nil || l.running {
		l.mu.Unlock()
		return nil
	}
	l.owned = nil
	l.mu.Unlock()
	return s.CloseWithGenerator()
}
