package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Release ends the lease and returns the worker ID with its unused time. It closes the
// generator's grant first, so the next holder can start right above the last id. Calls of
// the generator then return core.ErrLost.
//
// While the store fails with an error that may be temporary, Release retries until ctx is
// done, for at most Config.ClaimWait. If the store still fails, Release returns its error,
// and others can claim the worker ID after Config.TTL; Release may be called again. A
// second Release, and one after a loss, returns nil.
//
// When Release returns, the observer has all events, unless ctx is done or the observer takes
// longer than a second.
func (l *lease) Release(ctx context.Context) error {
	defer l.ending.close()
	defer l.flushWithin(ctx)
	began := time.Now()
	if !l.beginRelease() {
		return nil
	}
	l.run()
	for {
		changed, err := l.checkRelease(ctx, began)
		if changed == nil {
			return err
		}
		_ = wait(ctx, changed)
	}
}

// beginRelease ends the lease for its generator, and has the owner release what it holds. It
// reports false if that is nothing, because the lease has ended.
func (l *lease) beginRelease() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close(errReleased)
	for _, a := range l.retiring {
		a.retry = retry{} // it is tried again now
	}
	if l.state == ended {
		if len(l.retiring) == 0 {
			return false
		}
		l.state = releasing
	}
	l.ending.releases++
	return true
}

// checkRelease returns a channel that is closed when there is something to check again, or nil
// and the outcome of a Release that began at that time.
func (l *lease) checkRelease(ctx context.Context, began time.Time) (changed <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		if changed == nil {
			l.ending.releases--
		}
	}()
	if l.drained() {
		return nil, nil
	}
	for _, a := range l.retiring {
		if a.retry.failures > 0 && (driver.IsPermanent(a.retry.err) || a.retry.at.Sub(began) > l.cfg.ClaimWait) {
			return nil, l.notReleased(a, a.retry.err)
		}
	}
	switch err := ctx.Err(); {
	case err == nil:
		return l.ending.changed, nil
	case len(l.retiring) > 0:
		return nil, l.notReleased(l.retiring[0], errors.Join(err, l.retiring[0].retry.err))
	default:
		return nil, fmt.Errorf("worker: a claim in namespace %q is not released yet: %w", l.cfg.Namespace, err)
	}
}

func (l *lease) notReleased(a *assignment, err error) error {
	l.notify(ReleaseFailed, a, err, true)
	next := fmt.Sprintf("others can claim it in %v", l.cfg.TTL)
	if l.cfg.NoExpiry {
		next = "call Close again, or free it by the store's Admin"
	}
	return fmt.Errorf("worker: worker ID %d of namespace %q is not released; %s: %w", a.claim.Worker, l.cfg.Namespace, next, err)
}
