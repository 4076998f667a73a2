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
