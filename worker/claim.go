package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// claim asks the store once for a number and makes a grant of it: not for the
// number `avoid`, and for none that begins more than `lead` ahead. Repeated after
// a failure it uses the same token, so that a claim whose answer was lost is
// found again. One goroutine claims at a time: it holds l.claiming, or nobody
// else has the lease yet.
func (l *Lease) claim(ctx context.Context, avoid int64, lead time.Duration) (*holding, error) {
	now := l.cfg.Now()
	switch {
	case !now.Before(l.cfg.Layout.End()):
		return nil, fmt.Errorf("%w: it ended at %s, and it is %s", core.ErrTimeOver, show(l.cfg.Layout.End()), show(now))
	case now.Before(l.cfg.Layout.Epoch):
		return nil, configError([]core.Fault{{Field: "Layout.Epoch", Value: show(l.cfg.Layout.Epoch), Reason: "lies in the future, it is " + show(now)}})
	}
	if l.token == "" {
		l.token = rand.Text()
	}
	r := l.cfg.request(l.token, now, avoid, lead)
	ask, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	c, err := l.store.Claim(ask, r)
	if err != nil {
		return nil, l.unskew(err)
	}
	h := &holding{claim: c, token: l.token, until: c.Until}
	l.token = ""
	if c.Worker < 0 || c.Worker >= r.Numbers || r.Only && c.Worker != r.Preferred || c.Epoch < 1 || c.Until <= c.From || c.Until-c.From > r.Window {
		return nil, fmt.Errorf("worker: the store gave what was not asked for: number %d of %d, epoch %d, from %d to %d, a span of at most %d", c.Worker, r.Numbers, c.Epoch, c.From, c.Until, r.Window)
	}
	from := time.UnixMilli(c.From)
	h.grant, err = core.NewGrant(l.cfg.Layout, c.Worker, from, time.UnixMilli(c.Until))
	if err != nil { // the span begins beyond the layout's time
		_ = l.release(ctx, h, c.From)
		return nil, fmt.Errorf("worker: number %d: %w", c.Worker, err)
	}
	// A claim found again may be old, and its span past: the clock begins where
	// the claimant is, and the next step renews.
	h.clock = carryFrom(time.UnixMilli(max(c.From, r.Now)), l.cfg.Now)
	h.due = time.Now().Add(l.renewIn())
	l.mu.Lock()
	l.stats.Claims++
	l.mu.Unlock()
	return h, nil
}

// unskew looks again at a complaint about the clock: a slow answer makes it look
// slow, and is no proof. A fast clock is fast, however long the answer took.
func (l *Lease) unskew(err error) error {
	var skew *SkewError
	if errors.As(err, &skew) && skew.Store.Sub(l.cfg.Now()) <= l.cfg.MaxSkew && skew.Local.Before(skew.Store) {
		return fmt.Errorf("worker: the store answered too slowly to compare the clocks: %v", err) //nolint:errorlint // it is not to be found as a SkewError
	}
	return err
}

func (l *Lease) renewIn() time.Duration {
	return time.Duration(float64(l.cfg.Renew) * (0.9 + 0.1*l.cfg.rand()))
}

// Grant gives a generator its grant: the one of the present claim, or of another
// claim where prev is lost, used up, or to be exchanged for another number. Each
// claim's grant is a new one. A lease serves one generator: for a second New, also
// after one that failed, the error is core.ErrInUse.
func (l *Lease) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	if err := l.unmade(); err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.life.Done():
	}
	l.mu.Lock()
	h, err := l.cur, l.err
	switch {
	case l.ended:
	case prev == nil && l.handed:
		err = fmt.Errorf("%w: a lease serves one generator, acquire another lease", core.ErrInUse)
	case !h.handed: // of the first claim, or one that was made when prev was lost
		h.handed, l.handed = true, true
		l.mu.Unlock()
		return h.grant, nil
	}
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if h, err = l.another(ctx, h); err != nil {
		return nil, err
	}
	return h.grant, nil
}

// another claims a number in the place of old's for the generator.
func (l *Lease) another(ctx context.Context, old *holding) (*holding, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	l.mu.Lock()
	// A generator that exchanges its number may want to go on lower than it was, and
	// it has a number until then: so one that begins ahead of the clock is of no use.
	avoid, lead := old.claim.Worker, time.Duration(0)
	_, leapt := old.clock.read()
	working := old.failing == nil
	lost := old.lost != nil
	l.mu.Unlock()
	switch {
	case lost:
		avoid, lead = -1, l.cfg.MaxLead
	case leapt && working:
		// The clock has left the span behind, as after a long sleep. Nothing can be
		// issued in it any more, so the number may be claimed anew.
		// A renewal under way may find it released: that is no loss.
		l.mu.Lock()
		if old.lost == nil {
			old.lost = errLeapt
		}
		l.mu.Unlock()
		err := l.handBack(ctx, old)
		failed := err != nil && !errors.Is(err, ErrTaken)
		l.mu.Lock()
		if failed && old.lost == errLeapt { //nolint:errorlint // it is that very one
			old.lost = nil
		}
		old.due, old.tries = time.Now(), 0
		l.mu.Unlock()
		if failed {
			return nil, err
		}
		avoid, lead = -1, l.cfg.MaxLead
	}
	h, err := l.claim(ctx, avoid, lead)
	if err != nil {
		return nil, err
	}
	return h, l.adopt(old, h, true)
}

const errLeapt = constError("worker: the clock has leapt beyond the granted span")

// retireAfter is when a number that was exchanged is released: by then the
// generator has gone on to the other. Were it not so, it would ask again.
const retireAfter = time.Second

// adopt puts a new claim in the place of the old one.
func (l *Lease) adopt(old, h *holding, handed bool) error {
	l.mu.Lock()
	if l.ended { // meanwhile
		err := l.err
		l.mu.Unlock()
		h.grant.Close()
		ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
		defer cancel()
		_ = l.release(ctx, h, h.claim.From)
		return err
	}
	l.cur = h
	h.handed = handed
	lost := old.lost
	if lost == nil {
		old.due, old.tries = time.Now().Add(retireAfter), 0
		l.retired = append(l.retired, old)
	}
	l.mu.Unlock()
	if lost != nil {
		old.grant.Revoke(lost) // its generator asks for the new one at once
	}
	l.tell(Claimed, h, nil)
	select {
	case l.kick <- struct{}{}:
	default:
	}
	return nil
}
