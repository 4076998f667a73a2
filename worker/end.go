package worker

import (
	"errors"
	"slices"
	"sync"
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
		for _, c := range l.requests.calls {
			if c.kind == renewCall {
				c.status = late
				c.cancel()
			}
		}
		l.handed.fail(why)
		l.claiming.retry, l.fenced = retry{}, time.Time{}
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
	case <-l.claiming.first:
	default:
		close(l.claiming.first)
	}
}

// wantsRelease reports whether the owner should (still) try to release an assignment.
func (l *lease) wantsRelease(a *assignment) bool {
	return l.state < releasing || l.ending.releases > 0 || a.usage != releaseSent
}

// drained reports whether nothing is left to release, now or after the answer to a claim.
func (l *lease) drained() bool {
	return len(l.retiring) == 0 && !slices.ContainsFunc(l.requests.calls, func(c *call) bool { return c.kind == claimCall && c.status == pending })
}

// finished reports whether the owner has nothing left to do.
func (l *lease) finished() bool {
	if l.state < releasing || l.requests.busy() || l.claiming.resolves() {
		return false
	}
	if len(l.retiring) == 0 {
		l.move(drained)
		l.ending.announce()
		return true
	}
	return !slices.ContainsFunc(l.retiring, l.wantsRelease)
}

// An ending is what the calls of Release, and those who wait for the end, share.
type ending struct {
	releases  int           // calls of Release that wait
	changed   chan struct{} // closed and replaced when a release was answered
	done      chan struct{} // closed when the lease is over
	once      sync.Once     // closes it
	store     closer        // the store, if only this lease uses it; nil: it is closed
	storeOver bool          // store is to be closed when the owner has ended
}

// A closer is a store that only one generator uses: it is closed with the generator.
type closer interface{ CloseWithGenerator() error }

// announce wakes the calls of Release.
func (e *ending) announce() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// close closes done.
func (e *ending) close() { e.once.Do(func() { close(e.done) }) }

// closeStore closes the store if only this lease uses it. While the owner runs, as with a claim
// that is under way and must be released, the owner does that when it ends.
func (l *lease) closeStore() error {
	l.mu.Lock()
	l.ending.storeOver = true
	s := l.ending.store
	if s == nil || l.running {
		l.mu.Unlock()
		return nil
	}
	l.ending.store = nil
	l.mu.Unlock()
	return s.CloseWithGenerator()
}
