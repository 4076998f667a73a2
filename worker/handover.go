package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Grant implements [core.GrantSource], for the lease's one generator.
//
// If prev is nil, as in core.New, Grant returns the grant of the claimed worker ID. If prev is
// lost, or its generator needs another worker ID, Grant returns the grant of another claim. The old
// worker ID is released, with its unused time, as soon as the generator uses the new one. If prev is
// exhausted, Grant returns prev itself once its fence has risen.
//
// Grant makes no request to the store, but waits for the lease's request. That request continues
// after ctx is done, and its outcome serves the next call. While the lease waits to retry after
// a failure, Grant fails at once with a [*RetryError].
func (l *lease) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for before := l.current.Fence; l.state < releasing; {
		if prev == nil {
			return l.current.grant, nil
		}
		grant, err := l.answer(prev, before)
		if grant != nil || err != nil {
			return grant, err
		}
		l.run()
		if err := l.await(ctx); err != nil {
			return nil, err
		}
	}
	return nil, l.err
}

// answer returns a grant that replaces prev, or an error. If both are nil, the call must wait for
// the store. before is the fence at the time of the call.
func (l *lease) answer(prev *core.Grant, before int64) (*core.Grant, error) {
	h := l.current
	switch {
	case isDone(h.grant): // the generator could not use it, for example because its clock is behind NotBefore
		if err := h.regrant(&l.cfg); err != nil {
			return nil, err
		}
		h.grant.SetFenceError(l.stalled())
		l.run() // so that the loop waits for FenceReached of this grant
		return h.grant, nil
	case h.grant != prev: // it has replaced prev
		return h.grant, nil
	case prev.RegrantReason() == core.RegrantExhausted:
		return l.exhausted(h, before)
	}
	claim := &l.claiming
	claim.asked = time.Now()
	if claim.retry.failures > 0 && (l.state != held || time.Now().Before(claim.retry.at)) {
		return nil, l.retryError("claim", claim.retry) // at once: the caller may hold the connection that the claim needs
	}
	if l.state == held {
		l.state = rotating
		if time.Since(claim.retry.at) > maxDelay { // otherwise a claim failed a moment ago: its delay applies
			claim.retry = retry{}
		}
	}
	return nil, nil
}

// exhausted answers a generator that has reached the fence.
func (l *lease) exhausted(h *holding, before int64) (*core.Grant, error) {
	if err := l.stalled(); err != nil {
		return nil, err
	}
	if h.Fence > before {
		return h.grant, nil // it has risen
	}
	if l.left(h) > 0 {
		fence, now, why := time.UnixMilli(h.Fence), l.cfg.Now(), "they are drawn faster than the layout allows"
		if rises := fence.Add(-l.cfg.FenceWindow); rises.Sub(now) > l.cfg.MaxSkew {
			why = fmt.Sprintf("they began ahead of it, at the floor of the store, and have used up Config.FenceWindow, %v: they cannot continue before the store's clock shows %s", l.cfg.FenceWindow, formatTime(rises))
		}
		return nil, fmt.Errorf("worker: ids have reached %s, but the clock shows %s: %s", formatTime(fence), formatTime(now), why)
	}
	h.retry.at = time.Now() // the call waits for the renewal
	return nil, nil
}

// regrant replaces the grant with one for the unused part of its interval.
func (h *holding) regrant(cfg *Config) error {
	from, fence := h.grant.Close(), time.UnixMilli(h.Fence)
	first := from.Add(cfg.FenceWindow) // as at a claim: it limits MaxAhead
	if first.After(fence) {
		first = fence
	}
	if from.After(first) { // the last tick is used up, and ends after the fence
		first = from
	}
	grant, err := core.NewGrant(cfg.Layout, h.Worker, from, first)
	if err != nil {
		return fmt.Errorf("worker: worker ID %d: %w", h.Worker, err)
	}
	grant.RaiseFence(fence)
	h.grant = grant
	return nil
}

// install makes what was claimed the current holding.
func (l *lease) install(h *holding) {
	if old := l.current; old != nil {
		switch {
		case old.lost != nil: // its generator asks for the new one at once
			old.grant.Revoke(old.lost)
		case l.state == blocked: // at the fence it would wait in vain
			old.grant.Revoke(driver.ErrLocked)
		default: // its generator asks for the new one, at the fence at the latest
			old.grant.SetFenceError(nil)
		}
		l.retire(old)
	}
	l.state, l.current = held, h
	l.claiming.retry = retry{}
	l.notify(Claimed, h, nil, true)
}
