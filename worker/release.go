package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Release ends the lease and returns the worker ID with its unused time. It closes the
// generator's grant first, so the next holder can start right above the last id. Calls of
// the generator then return core.ErrLost.
//
// While the store fails with an error that may be temporary, Release retries until ctx is
// done, for at most Config.ClaimWait. If the store still fails, Release returns its error, and
// others can claim the worker ID when its fence has passed by MaxSkew. Call Release again to try
// again. After a success or a loss, it returns nil.
//
// When Release returns, the observer has received all events, unless ctx is done or the observer
// takes longer than a second.
func (l *lease) Release(ctx context.Context) error {
	defer l.end()
	defer l.flushWithin(ctx)
	began := time.Now()
	l.mu.Lock()
	l.close(errReleased)
	for _, a := range l.retiring {
		a.retry = retry{} // try again now
	}
	l.releases++
	l.mu.Unlock()
	l.run()
	for {
		changed, err := l.checkRelease(ctx, began)
		if changed == nil {
			return err
		}
		_ = wait(ctx, changed)
	}
}

// checkRelease checks a Release that began at the given time. It returns a channel that is closed
// when there is something to check again, or nil and the outcome.
func (l *lease) checkRelease(ctx context.Context, began time.Time) (changed <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		if changed == nil {
			l.releases--
		}
	}()
	if len(l.retiring) == 0 && (l.claiming.pending == nil || l.claiming.retry.failures > maxResolves) {
		return nil, nil
	}
	for _, a := range l.retiring {
		if a.retry.failures > 0 && (driver.IsPermanent(a.retry.err) || a.retry.at.Sub(began) > l.cfg.ClaimWait) {
			return nil, l.notReleased(a, a.retry.err)
		}
	}
	switch err := ctx.Err(); {
	case err == nil:
		return l.changed, nil
	case len(l.retiring) > 0:
		return nil, l.notReleased(l.retiring[0], errors.Join(err, l.retiring[0].retry.err))
	default:
		return nil, fmt.Errorf("worker: a claim in namespace %q is not released yet: %w", l.cfg.Namespace, err)
	}
}

func (l *lease) notReleased(a *claim, err error) error {
	l.notify(ReleaseFailed, a, err, true)
	next := fmt.Sprintf("others can claim it in %v", max(time.UnixMilli(a.Fence).Sub(l.cfg.Now()), 0).Round(time.Second)+l.cfg.MaxSkew)
	if l.cfg.NoExpiry {
		next = "call Close again, or free it by the store's Admin"
	}
	return fmt.Errorf("worker: worker ID %d of namespace %q is not released; %s: %w", a.Worker, l.cfg.Namespace, next, err)
}

// close ends the lease for its generator at once; the lease's goroutine then releases the claims. If
// the lease is already over, as after a loss, close only closes its grants.
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
		if l.current != nil && (l.current.lost == nil || l.mayBeKept(l.current)) && !slices.Contains(l.retiring, l.current) {
			l.retire(l.current)
		}
		if l.renewing != nil {
			l.renewing()
		}
		l.reply(nil, why)
		l.claiming.retry, l.fenced = retry{}, time.Time{}
	}
	var loss *LostError
	if errors.As(why, &loss) { // ids continue up to the fence
		return
	}
	for _, g := range open {
		g.Close()
	}
}

// mayBeKept reports whether a store that has forgotten may still have the record of a lost claim.
// That record never expires, so it must be released, unless another claim has it.
func (l *lease) mayBeKept(c *claim) bool {
	return l.cfg.NoExpiry && errors.Is(c.lost, driver.ErrForgotten)
}

// wantsRelease reports whether to try to release a claim, for the first time or again.
func (l *lease) wantsRelease(a *claim) bool {
	switch {
	case l.state < releasing:
		return done(a.grant)
	case l.releases > 0:
		return true
	}
	return !a.releaseSent && (a.lost == nil || done(a.grant)) // with StopOnLoss, ids of a lost one continue up to its fence
}

// closeStore closes the store if only this lease uses it, and it is not closed yet. Call it only
// when nothing is left to release.
func (l *lease) closeStore() error {
	l.mu.Lock()
	s := l.owned
	l.owned = nil
	l.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.CloseWithGenerator()
}
