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
	defer l.closeDone()
	defer l.flushWithin(ctx)
	began := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close(errReleased)
	for _, a := range l.retiring {
		a.retry = retry{} // it is tried again now
	}
	if l.state == ended {
		if len(l.retiring) == 0 {
			return nil
		}
		l.state = releasing
	}
	l.releases++
	defer func() { l.releases-- }()
	l.run()
	for {
		if l.drained() {
			return nil
		}
		for _, a := range l.retiring {
			if a.retry.failures > 0 && (driver.IsPermanent(a.retry.err) || ctx.Err() != nil || a.retry.at.Sub(began) > l.cfg.ClaimWait) {
				return l.notReleased(a, a.retry.err)
			}
		}
		changed := l.changed
		l.mu.Unlock()
		err := l.wait(ctx, changed)
		l.mu.Lock()
		if err != nil && !l.drained() {
			if len(l.retiring) > 0 {
				return l.notReleased(l.retiring[0], errors.Join(err, l.retiring[0].retry.err))
			}
			return fmt.Errorf("worker: a claim in namespace %q is not released yet: %w", l.cfg.Namespace, err)
		}
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
