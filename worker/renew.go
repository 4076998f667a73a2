package worker

import (
	"context"
	"errors"
	"slices"
	"time"
)

// run does in the background what is due.
func (l *Lease) run() {
	defer close(l.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(l.step())
		select {
		case <-timer.C:
		case <-l.kick:
		case <-l.leaving():
		case <-l.life.Done():
			return
		}
	}
}

// leaving is closed when a generator has left a number that it was to exchange; nil
// where there is none to leave.
func (l *Lease) leaving() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Backward(l.retired) {
		if !done(r.grant) {
			return r.grant.Done()
		}
	}
	return nil
}

const idle = time.Hour // when nothing is due

// glance is how often it is looked whether the wall clock has gone on faster than
// the monotonic one, so that the span wants renewing earlier.
func (l *Lease) glance() time.Duration { return min(maxBackOff, l.cfg.Renew/2) }

// step does what is due, and says when something will be.
func (l *Lease) step() time.Duration {
	now := time.Now()
	select {
	case l.claiming <- struct{}{}:
		l.mu.Lock()
		l.settle()
		l.mu.Unlock()
		<-l.claiming
	default: // the one who claims has done so
	}
	l.mu.Lock()
	h, ended := l.cur, l.ended
	var retired []*holding
	for _, r := range l.retired {
		if !r.due.After(now) && done(r.grant) { // else ids may be issued under it still
			retired = append(retired, r)
		}
	}
	lost := h.lost != nil
	hurry := !lost && h.failing == nil && h.left() < (l.cfg.Window-l.cfg.Renew)/2
	due := !ended && (hurry || !h.due.After(now))
	l.mu.Unlock()
	if due && lost {
		l.replaceLost(h)
	} else if due {
		l.renew(h)
	}
	for _, r := range retired {
		l.giveUp(r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := time.Now().Add(idle)
	if !l.ended {
		if next = l.cur.due; l.cur.lost == nil {
			next = earlier(next, time.Now().Add(l.glance()))
		}
	}
	for _, r := range l.retired {
		if done(r.grant) { // else see leaving
			next = earlier(next, r.due)
		}
	}
	return max(time.Until(next), 0)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// renew raises the bound: first in the store, and only when that has acknowledged
// it, in the grant.
func (l *Lease) renew(h *holding) {
	l.mu.Lock()
	now, _ := h.clock.read()
	until := max(h.until, now.Add(l.cfg.Window).UnixMilli())
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(l.life, l.cfg.Timeout)
	defer cancel()
	err := l.store.Renew(ctx, Renewal{
		Space: l.cfg.Space, Worker: h.claim.Worker, Epoch: h.claim.Epoch, Token: h.token, Until: until, TTL: l.cfg.ttl(),
	})
	switch {
	case err == nil:
		l.mu.Lock()
		h.until = max(h.until, until)
		h.failing, h.tries = nil, 0
		h.due = time.Now().Add(l.renewIn())
		l.stats.Renewals++
		grant := h.grant
		l.mu.Unlock()
		grant.Raise(time.UnixMilli(until))
		l.tell(Renewed, h, nil)
	case l.life.Err() != nil: // released meanwhile
	case errors.Is(err, ErrTaken):
		l.lose(h, err)
	default:
		l.mu.Lock()
		h.failing = err
		h.due = time.Now().Add(l.backOff(h.tries))
		h.tries++
		l.stats.Failures++
		l.mu.Unlock()
		l.tell(RenewFailed, h, err)
	}
}

// lose notes that the number is another's. The grant stays as it is: its bound
// is recorded, and whoever has the number now begins there.
func (l *Lease) lose(h *holding, err error) {
	l.mu.Lock()
	if h.lost != nil {
		l.mu.Unlock()
		return
	}
	if h.given { // by another, which has told its caller that the store failed: now it is known
		h.lost, h.due, h.tries = errLeapt, time.Now(), 0
		l.mu.Unlock()
		return
	}
	h.lost = &LostError{Space: l.cfg.Space, Worker: h.claim.Worker, Until: time.UnixMilli(h.until), Err: err}
	h.due, h.tries = time.Now(), 0
	l.stats.Losses++
	if l.cfg.StopOnLoss && l.cur == h && !l.ended {
		l.ended, l.err = true, h.lost
		close(l.done)
	}
	l.mu.Unlock()
	l.tell(Lost, h, h.lost)
}

// replaceLost claims a number after the loss of one, and then moves the generator.
func (l *Lease) replaceLost(old *holding) {
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	default: // the generator is asking
		l.mu.Lock()
		old.due = time.Now().Add(l.backOff(0))
		l.mu.Unlock()
		return
	}
	l.mu.Lock()
	done := l.cur != old || l.ended
	l.mu.Unlock()
	if done { // it has asked meanwhile
		return
	}
	h, err := l.claim(l.life, -1, l.cfg.MaxLead)
	if err == nil {
		_ = l.adopt(old, h, false) // it fails when the lease was released meanwhile
		return
	}
	if l.life.Err() != nil {
		return
	}
	l.mu.Lock()
	old.due = time.Now().Add(l.backOff(old.tries))
	old.tries++
	l.stats.Failures++
	l.mu.Unlock()
	l.tell(ClaimFailed, old, err)
}
