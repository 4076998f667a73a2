package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
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
	l.mu.Lock()
	ended := func() {}
	if !l.ended {
		l.ended, l.err = true, ErrReleased
		ended = func() { close(l.done) }
	}
	if l.cur.lost == nil && !slices.Contains(l.retired, l.cur) {
		l.retired = append(l.retired, l.cur)
	}
	open := []*core.Grant{l.cur.grant} // also when its number is lost
	for _, h := range l.retired {
		open = append(open, h.grant)
	}
	l.mu.Unlock()
	l.end()
	for _, g := range open { // at once, whatever the store or another Release does
		g.Close()
	}
	select {
	case l.giving <- struct{}{}:
		defer func() { ended(); <-l.giving }()
	case <-ctx.Done():
		ended()
		return fmt.Errorf("worker: another Release of space %q is under way: %w", l.cfg.Space, ctx.Err())
	}
	l.mu.Lock()
	held := slices.Clone(l.retired) // what that one has not released
	l.mu.Unlock()
	select { // for what is under way
	case <-l.stopped:
	case <-ctx.Done():
	}
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	case <-ctx.Done():
	}
	began := time.Now()
	var failed error
	for _, h := range held {
		for tries := 0; ; tries++ {
			err := l.handBack(ctx, h)
			if err == nil || errors.Is(err, ErrTaken) {
				l.tell(Released, h, nil)
				break
			}
			wait := l.backOff(tries)
			if final(err) || ctx.Err() != nil || time.Since(began)+wait > l.cfg.MaxWait {
				failed = fmt.Errorf("worker: number %d of space %q is not released, it comes free in %v: %w", h.claim.Worker, l.cfg.Space, l.cfg.TTL, err)
				if l.cfg.noTTL {
					failed = fmt.Errorf("worker: number %d of space %q is not released; release it again, or free it by Admin: %w", h.claim.Worker, l.cfg.Space, err)
				}
				l.tell(NotReleased, h, err)
				break
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}
	return failed
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

// handBack closes the grant's run, and only then gives the number back from where
// its ids have come to. Whatever the store answers, no id is issued under the claim
// after that: a release that was lost may arrive late.
func (l *Lease) handBack(ctx context.Context, h *holding) error {
	l.mu.Lock()
	grant := h.grant
	h.given = true
	l.mu.Unlock()
	err := l.release(ctx, h, grant.Close().UnixMilli())
	if err == nil || errors.Is(err, ErrTaken) {
		l.mu.Lock()
		l.retired = slices.DeleteFunc(l.retired, func(r *holding) bool { return r == h })
		if h.lost == nil {
			h.lost = ErrReleased
		}
		l.mu.Unlock()
	}
	return err
}

func (l *Lease) release(ctx context.Context, h *holding, until int64) error {
	ask, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	return l.store.Release(ask, Return{Space: l.cfg.Space, Worker: h.claim.Worker, Epoch: h.claim.Epoch, Token: h.token, Until: until})
}

// giveUp releases a number that the generator has exchanged for another. It is
// left to its time to live when the store fails for so long.
func (l *Lease) giveUp(h *holding) {
	err := l.handBack(l.life, h)
	if err == nil || errors.Is(err, ErrTaken) {
		l.tell(Released, h, nil)
		return
	}
	if l.life.Err() != nil {
		return // Release sees to it
	}
	l.mu.Lock()
	h.due = time.Now().Add(l.backOff(h.tries))
	h.tries++
	l.stats.Failures++
	forget := !l.cfg.noTTL && int64(h.tries) > int64(l.cfg.TTL/maxBackOff)+1
	if forget {
		l.retired = slices.DeleteFunc(l.retired, func(r *holding) bool { return r == h })
	}
	l.mu.Unlock()
	if forget {
		l.tell(NotReleased, h, err)
	}
}
