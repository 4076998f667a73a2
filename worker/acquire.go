package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// acquire claims a worker ID, which the lease then renews until Release. ctx is for the claim
// only; if it ends first, the error wraps the context's error and the last reason, and a claim
// that the store grants later is released.
func (l *lease) acquire(ctx context.Context) error {
	if err := l.firstClaim(ctx); err != nil {
		return fmt.Errorf("worker: no lease in namespace %q after %v: %w", l.cfg.Namespace, time.Since(l.claiming.began).Round(time.Millisecond), err)
	}
	if l.warner != nil && l.cfg.Observer != nil {
		go l.warn()
	}
	return nil
}

func newLease(s driver.Store, cfg Config) (*lease, error) {
	cfg, err := cfg.check(s)
	if err != nil {
		return nil, err
	}
	owned, _ := s.(closer)
	limits, _ := s.(limiter)
	warns, _ := s.(warner)
	storeType := fmt.Sprintf("%T", s)
	if d := cfg.Datacenter; d != nil {
		s = datacenterStore{s, *d, *d << cfg.Layout.WorkerBits, values(cfg.Layout.WorkerBits)}
	}
	return &lease{
		cfg: cfg, store: s, storeType: storeType, limiter: limits, warner: warns, wake: make(chan struct{}, 1),
		claiming: claiming{began: time.Now(), first: make(chan struct{})},
		ending:   ending{changed: make(chan struct{}), done: make(chan struct{}), store: owned},
		reports:  reports{busy: make(chan struct{}, 1)},
	}, nil
}

// firstClaim waits until the owner has claimed a worker ID, or has given up.
func (l *lease) firstClaim(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.run()
	waiting := wait(ctx, l.claiming.first)
	err := l.endFirstClaim(waiting)
	if waiting != nil {
		l.run() // to end, or to release what is claimed too late
	}
	return err
}

// endFirstClaim gives up if no worker ID is claimed yet, because ctx is done, as waiting says.
func (l *lease) endFirstClaim(waiting error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != acquiring {
		return l.err
	}
	if l.claiming.retry.err != nil {
		waiting = fmt.Errorf("%w, and the last claim: %w", waiting, l.claiming.retry.err)
	}
	l.close(waiting)
	return waiting
}

// A warner is a store that knows of settings that might lose an acknowledged write.
type warner interface {
	Warnings(ctx context.Context) ([]string, error)
}

// warn reports the store's warnings. It ignores errors: failed renewals report them.
func (l *lease) warn() {
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
	defer cancel()
	warnings, _ := l.warner.Warnings(ctx)
	l.mu.Lock()
	for _, text := range warnings {
		if l.state < releasing {
			l.reports.events = append(l.reports.events, core.Event{Kind: StoreWarning, Level: slog.LevelWarn, Namespace: l.cfg.Namespace, Worker: l.current.claim.Worker, Err: errors.New(text)})
		}
	}
	l.mu.Unlock()
	l.flush()
}

// Grant implements [core.GrantSource].
//
// A lease serves one generator at a time. With a nil prev, Grant fails with core.ErrInUse
// until the grant before is done (core.Grant.Done). Then it returns another grant of the same
// worker ID, from the first instant that no id carries to the recorded fence.
//
// If prev is lost, or its generator needs another worker ID, Grant returns the grant of
// another claim. The old worker ID is released, with its unused time, as soon as the
// generator uses the new one. If prev is exhausted, Grant returns prev itself once its
// fence has risen.
//
// Grant makes no request to the store. It waits for one that the lease makes. The request
// continues when ctx is done, and its outcome serves the next call. While the lease waits
// to retry after a failure, Grant fails at once with a [*RetryError].
//
// A caller that is not a generator must close the grant that it gets.
func (l *lease) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, err := l.ask(prev)
	if err != nil {
		return nil, err
	}
	l.run()
	return l.take(w, wait(ctx, w.answered))
}

// ask begins a call of Grant.
func (l *lease) ask(prev *core.Grant) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state >= releasing {
		return nil, l.err
	}
	w := &waiter{prev: prev, fence: l.current.fence, answered: make(chan struct{})}
	l.handed.waiters = append(l.handed.waiters, w)
	return w, nil
}

// take ends a call of Grant, which ctx may have ended, as waiting says.
func (l *lease) take(w *waiter, waiting error) (*core.Grant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.handed.waiters, w); i >= 0 { // ctx is done; the lease's request continues
		l.handed.waiters = slices.Delete(l.handed.waiters, i, i+1)
		return nil, waiting
	}
	return w.grant, w.err
}
