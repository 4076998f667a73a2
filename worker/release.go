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

// Release ends the lease and gives the number back with the time it did not use:
// its generator's run is closed first, and then whoever is next may begin right
// after the last id. The generator answers core.ErrLost from then on.
//
// A store that fails with what may pass is asked again until ctx is done, but no
// longer than Config.MaxWait. If it goes on failing, the error says so, and the number comes
// free by itself when its time to live is over; Release may be called again.
// Released twice, or after the number was lost, it returns nil.
func (l *Lease) Release(ctx context.Context) error {
	if err := l.unmade(); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	defer l.end()
	defer l.flush()
	began := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close(ErrReleased)
	for _, h := range l.leaving {
		h.retry = retry{} // it is tried again now
	}
	if l.state == ended && len(l.leaving) > 0 {
		l.state = releasing
	}
	l.releases++
	defer func() { l.releases-- }()
	for {
		l.run()
		if l.drained() {
			return nil
		}
		for _, h := range l.leaving {
			if h.retry.failures > 0 && (driver.IsPermanent(h.retry.err) || ctx.Err() != nil || h.retry.at.Sub(began) > l.cfg.MaxWait) {
				return l.notReleased(h, h.retry.err)
			}
		}
		changed := l.changed
		l.mu.Unlock()
		err := l.wait(ctx, changed)
		l.mu.Lock()
		if err != nil && !l.drained() {
			if len(l.leaving) > 0 {
				return l.notReleased(l.leaving[0], errors.Join(err, l.leaving[0].retry.err))
			}
			return fmt.Errorf("worker: space %q: a claim is not released yet: %w", l.cfg.Namespace, err)
		}
	}
}

func (l *Lease) notReleased(h *holding, err error) error {
	l.notify(ReleaseFailed, h, err, true)
	if l.cfg.NoExpiry {
		return fmt.Errorf("worker: number %d of space %q is not released; release it again, or free it by Admin: %w", h.claim.Worker, l.cfg.Namespace, err)
	}
	return fmt.Errorf("worker: number %d of space %q is not released, it comes free in %v: %w", h.claim.Worker, l.cfg.Namespace, l.cfg.TTL, err)
}

// Close is Release with a time limit of its own, Config.MaxWait or 5s.
func (l *Lease) Close() error {
	if err := l.unmade(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), max(l.cfg.MaxWait, 5*time.Second))
	defer cancel()
	return l.Release(ctx)
}

// close ends the lease for its generator at once; the owner then releases its claims. If
// the lease is over already, as after a loss, close only closes its grants.
func (l *Lease) close(why error) {
	open := make([]*core.Grant, 0, 1)
	if l.current != nil {
		open = append(open, l.current.grant) // also when its worker ID is lost
	}
	for _, h := range l.leaving {
		open = append(open, h.grant)
	}
	if l.move(closed) {
		l.err = why
		if l.current != nil && l.current.lost == nil && !slices.Contains(l.leaving, l.current) {
			l.leave(l.current)
		}
		for _, c := range l.calls {
			if c.kind == renewCall && c.cancel != nil {
				c.late = true
				c.cancel()
			}
		}
		l.refuseAsks(why)
		l.claims, l.renewal, l.fenced = retry{}, retry{}, time.Time{}
		l.acquireEnds()
		l.run()
	}
	var loss *LostError
	if errors.As(why, &loss) { // ids go on up to the fence
		return
	}
	for _, g := range open {
		g.Close()
	}
}

// acquireEnds lets Acquire return.
func (l *Lease) acquireEnds() {
	select {
	case <-l.acquired:
	default:
		close(l.acquired)
	}
}

// end closes Done.
func (l *Lease) end() { l.over.Do(func() { close(l.done) }) }

// wantsRelease reports whether the owner should (still) try to release a holding.
func (l *Lease) wantsRelease(h *holding) bool {
	return l.state < releasing || l.releases > 0 || !h.tried
}

// drained reports whether nothing is left to release, now or after the answer to a claim.
func (l *Lease) drained() bool {
	return len(l.leaving) == 0 && !slices.ContainsFunc(l.calls, func(c *call) bool { return c.kind == claimCall && !c.late })
}

// finished reports whether the owner has nothing left to do.
func (l *Lease) finished() bool {
	if l.state < releasing || l.busy() || l.token != "" && l.claims.failures <= mostResolves {
		return false
	}
	if len(l.leaving) == 0 {
		l.move(drained)
		l.announce()
		return true
	}
	return !slices.ContainsFunc(l.leaving, l.wantsRelease)
}

// announce wakes the calls of Release.
func (l *Lease) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}
