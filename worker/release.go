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

// Release ends the lease and returns the worker ID with its unused time; see [Generator.Close]. Calls
// of a generator that is not closed then return core.ErrLost.
func (l *lease) Release(ctx context.Context) error {
	defer l.flushWithin(ctx)
	began := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close(errReleased)
	for _, h := range l.retiring {
		h.retry = retry{} // try again now
	}
	l.releases++
	defer func() { l.releases-- }()
	l.run()
	for len(l.retiring) > 0 || l.claiming.pending != nil && l.claiming.retry.failures <= maxResolves {
		for _, h := range l.retiring {
			if h.retry.failures > 0 && (driver.IsPermanent(h.retry.err) || h.retry.at.Sub(began) > l.cfg.ClaimWait) {
				return l.notReleased(h, h.retry.err)
			}
		}
		err := l.await(ctx)
		switch {
		case err == nil:
		case len(l.retiring) > 0:
			return l.notReleased(l.retiring[0], errors.Join(err, l.retiring[0].retry.err))
		default:
			return fmt.Errorf("worker: a claim in namespace %q is not released yet: %w", l.cfg.Namespace, err)
		}
	}
	return nil
}

func (l *lease) notReleased(h *holding, err error) error {
	l.notify(ReleaseFailed, h, err, true)
	next := fmt.Sprintf("others can claim it in %v", max(time.UnixMilli(h.Fence).Sub(l.cfg.Now()), 0).Round(time.Second)+l.cfg.MaxSkew)
	if l.cfg.NoExpiry {
		next = "call Close again, or free it by the store's Admin"
	}
	return fmt.Errorf("worker: worker ID %d of namespace %q is not released; %s: %w", h.Worker, l.cfg.Namespace, next, err)
}

// close ends the lease for its generator at once; the lease's goroutine then releases the claims.
func (l *lease) close(why error) {
	if l.state >= releasing {
		return
	}
	for _, h := range l.retiring {
		h.grant.Close()
	}
	if h := l.current; h != nil {
		h.grant.Close() // also when its worker ID is lost
		l.retire(h)
	}
	l.state, l.err = releasing, why
	l.claiming.retry, l.stats.FencedSince = retry{}, time.Time{}
	l.end()
	l.signal()
}

// retire schedules a claim for release, once no generator uses its grant. A claim that is lost needs
// none, unless the store has forgotten and may still have a record of it that never expires.
func (l *lease) retire(h *holding) {
	if h.lost == nil || l.cfg.NoExpiry && errors.Is(h.lost, driver.ErrForgotten) {
		h.retry = retry{}
		l.retiring = append(l.retiring, h)
	}
}

// release returns the worker ID to the store, from the first instant that no id carries. It closes
// the grant first, so that no id is issued under the claim any more, whatever the store answers
// and whenever the request arrives.
func (l *lease) release(h *holding) {
	unused := max(h.grant.Close().UnixMilli(), h.Start)
	_, err := l.ask(context.Background(), "release", func(ctx context.Context) (driver.Lease, error) {
		return driver.Lease{}, l.store.Release(ctx, driver.Release{
			Namespace: l.cfg.Namespace, Worker: h.Worker, ClaimID: h.id, FencingToken: h.FencingToken, Unused: unused,
		})
	})
	kind := Released // also if it was released before, or another claim has it
	if err != nil && !errors.Is(err, driver.ErrNotHeld) {
		h.retry.failed(err, l.cfg.rand)
		l.stats.Failures++
		if l.state >= releasing || l.cfg.NoExpiry || time.Since(h.retry.since) <= 2*l.cfg.FenceWindow {
			return
		}
		kind = ReleaseFailed // and has expired
	} else {
		err = nil
	}
	l.retiring = slices.DeleteFunc(l.retiring, func(other *holding) bool { return other == h })
	l.notify(kind, h, err, true)
}

func isDone(g *core.Grant) bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
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
