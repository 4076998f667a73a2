package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A lease holds a worker ID of a namespace, and renews it until Release. It is the
// [core.GrantSource] of one generator for its whole life.
//
// One goroutine runs the lease, and makes one request to the store at a time. The states are below.
// Then read loop.go (which request is due, and renewals), claim.go (claims), handover.go (what the
// generator gets) and release.go (the end).
type lease struct {
	cfg       Config
	store     driver.Store
	storeType string // of the store passed to Open, for errors
	// call makes a request, and returns when ctx is done even if the request does not.
	call func(ctx context.Context, what string, request func() (driver.Lease, error)) (driver.Lease, error)
	wake chan struct{}      // wakes the goroutine
	life context.Context    // done when the lease is over, to cancel a renewal
	end  context.CancelFunc // ends it

	mu       sync.Mutex // held for each change, and for each read, of what follows
	running  bool       // whether the goroutine runs
	state    state
	err      error      // why the lease is over
	current  *holding   // what the generator has, or gets next; nil until the first claim is granted
	retiring []*holding // to release, once no generator uses their grants
	claiming claimState
	releases int               // calls of Release that wait
	changed  chan struct{}     // closed and replaced after each request, to wake waiting calls
	owned    driver.OwnedStore // the store, if only this lease uses it; nil also when it is closed
	reports  reports
	stats    Stats // its counters, and FencedSince
}

// A state is the phase of a lease.
//
// Ids do not stop for good: in each state before releasing, a request is retried after a short delay until
// the store answers, and every answer makes progress. In rotating and blocked the worker ID is still renewed,
// so ids continue while another one is claimed.
//
// A lease is held after a claim. It is rotating or blocked while it claims another worker ID, and then held
// again, by that one or by the old one. A renewal that finds another holder makes it lost, until a claim.
// close makes it releasing from any state, and ended follows when nothing is left to release.
//
// An unanswered claim is repeated unchanged, in any state, until an answer settles it: either it was
// granted, and is used or released, or no worker ID is free for it. Only then is another claim made.
type state uint8

const (
	acquiring state = iota // it has no worker ID yet
	held                   // it has a worker ID, and renews it
	rotating               // held, and it claims another worker ID because the generator asks for one
	blocked                // held, and it claims another worker ID because something else locks the record
	lost                   // another holder has the worker ID, and it claims another one
	releasing              // the lease is over, and releases what it holds
	ended                  // it holds nothing
)

func (s state) String() string {
	return [...]string{"acquiring", "held", "rotating", "blocked", "lost", "releasing", "ended"}[s]
}

// renews reports whether the lease renews its worker ID.
func (s state) renews() bool { return s == held || s == rotating || s == blocked }

// claims reports whether the lease claims a worker ID.
func (s state) claims() bool { return s == acquiring || s == rotating || s == blocked || s == lost }

func newLease(s driver.Store, cfg Config) (*lease, error) {
	cfg, err := cfg.check(s)
	if err != nil {
		return nil, err
	}
	l := &lease{
		cfg: cfg, store: s, storeType: fmt.Sprintf("%T", s), wake: make(chan struct{}, 1), changed: make(chan struct{}),
		reports: reports{busy: make(chan struct{}, 1)},
	}
	l.owned, _ = s.(driver.OwnedStore)
	if d := cfg.Datacenter; d != nil {
		l.store = datacenterStore{s, *d, *d << cfg.Layout.WorkerBits, valueCount(cfg.Layout.WorkerBits)}
	}
	calls := new(hung.Calls)
	l.call = func(ctx context.Context, what string, request func() (driver.Lease, error)) (driver.Lease, error) {
		return hung.Do(ctx, calls, what, request)
	}
	l.life, l.end = context.WithCancel(context.Background())
	return l, nil
}

// acquire claims a worker ID, which the lease then renews until Release. ctx only limits the
// claim: if it ends first, the error wraps the context's error and the last failure, and a claim
// that the store grants later is released.
func (l *lease) acquire(ctx context.Context) error {
	began := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claiming.deadline = began.Add(l.cfg.ClaimWait)
	err := ctx.Err()
	if err == nil {
		l.run()
	}
	for err == nil && l.state == acquiring {
		err = l.await(ctx)
	}
	if l.state == acquiring { // ctx is done
		if last := l.claiming.retry.err; last != nil {
			err = fmt.Errorf("%w, and the last claim: %w", err, last)
		}
		l.close(err)
	}
	if l.err == nil {
		return nil
	}
	l.run() // to end, or to release what is claimed too late
	took := time.Since(began).Round(time.Millisecond)
	return fmt.Errorf("worker: no lease in namespace %q after %v: %w", l.cfg.Namespace, took, l.err)
}

// await unlocks l.mu until the goroutine has made a request, or the lease is closed. It returns
// ctx's error if ctx is done before.
func (l *lease) await(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// signal wakes the calls of await.
func (l *lease) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}

var errReleased = errors.New("worker: the lease was released") // why a lease is over after Release
