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
// If another holder takes the worker ID, ids continue under it up to its fence at most. Meanwhile
// the lease claims another worker ID, and the generator then continues under that one.
//
// One goroutine runs the lease, and makes one request to the store at a time. The table of states
// is below. Then read live.go (which request is due, and renewals), claim.go (claims), handover.go
// (what the generator gets) and release.go (the end).
type lease struct {
	cfg       Config
	store     driver.Store
	storeType string // of the store passed to Open, for errors
	call      callFunc
	wake      chan struct{} // wakes the goroutine

	life context.Context    // ended when the lease is over
	end  context.CancelFunc // ends it

	mu       sync.Mutex // held for each change, and for each read, of what follows
	running  bool       // whether the goroutine runs
	state    state
	err      error    // why the lease is over
	current  *claim   // what the generator has, or gets next; nil until the first one is granted
	retiring []*claim // claims to release, once no generator uses their grants
	claiming claiming
	renewing context.CancelFunc // cancels the renewal that is under way; nil: none is
	waiting  *waiter            // the waiting call of Grant; nil: none
	releases int                // calls of Release that wait
	changed  chan struct{}      // closed and replaced after each step, to wake waiting calls
	failed   bool               // acquire has failed, so Release is not called
	owned    driver.OwnedStore  // the store, if only this lease uses it; nil also when it is closed
	reports  reports
	count    struct{ renewals, failures, losses, forgotten, claims uint64 }
	fenced   time.Time // since when no id can be issued; zero: ids can be
}

// A callFunc makes a request, and returns when ctx is done even if the request does not.
type callFunc func(ctx context.Context, what string, request func() (driver.Lease, error)) (driver.Lease, error)

// acquire claims a worker ID, which the lease then renews until Release. ctx only limits the
// claim: if it ends first, the error wraps the context's error and the last failure, and a claim
// that the store grants later is released.
func (l *lease) acquire(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("worker: no lease in namespace %q after %v: %w", l.cfg.Namespace, time.Since(l.claiming.began).Round(time.Millisecond), err)
		}
	}()
	waiting := ctx.Err()
	if waiting == nil {
		l.run()
	}
	l.mu.Lock()
	for waiting == nil && l.state == acquiring {
		changed := l.changed
		l.mu.Unlock()
		waiting = wait(ctx, changed)
		l.mu.Lock()
	}
	err = l.err
	if l.state == acquiring { // ctx is done
		if err = waiting; l.claiming.retry.err != nil {
			err = fmt.Errorf("%w, and the last claim: %w", err, l.claiming.retry.err)
		}
		l.close(err)
	}
	l.failed = err != nil
	l.mu.Unlock()
	if err != nil {
		l.run() // to end, or to release what is claimed too late
	}
	return err
}

func newLease(s driver.Store, cfg Config) (*lease, error) {
	cfg, err := cfg.check(s)
	if err != nil {
		return nil, err
	}
	owned, _ := s.(driver.OwnedStore)
	storeType := fmt.Sprintf("%T", s)
	if d := cfg.Datacenter; d != nil {
		s = datacenterStore{s, *d, *d << cfg.Layout.WorkerBits, values(cfg.Layout.WorkerBits)}
	}
	l := &lease{
		cfg: cfg, store: s, storeType: storeType, wake: make(chan struct{}, 1),
		claiming: claiming{began: time.Now()},
		changed:  make(chan struct{}), owned: owned,
		reports: reports{busy: make(chan struct{}, 1)},
	}
	calls := new(hung.Calls)
	l.call = func(ctx context.Context, what string, request func() (driver.Lease, error)) (driver.Lease, error) {
		return hung.Do(ctx, calls, what, request)
	}
	l.life, l.end = context.WithCancel(context.Background())
	return l, nil
}

// A state is a lease's phase. The lease moves from state to state by the transitions below.
type state uint8

const (
	acquiring state = iota // it has no worker ID yet
	held                   // it has a worker ID, and renews it
	rotating               // held, and it claims another worker ID
	lost                   // another holder has the worker ID, and it claims another one
	releasing              // the lease is over, and releases what it holds
	ended                  // it holds nothing
)

func (s state) String() string {
	return [...]string{"acquiring", "held", "rotating", "lost", "releasing", "ended"}[s]
}

// An event moves a lease from one state to the next.
type event uint8

const (
	claimed event = iota // the store has granted a worker ID
	wanted               // another worker ID is needed: the generator asked for one, or the record is locked
	settled              // no other worker ID is needed any more
	taken                // the lease no longer has the worker ID
	closed               // Release was called, acquire gave up, or a loss under StopOnLoss
	drained              // nothing is left to release
)

func (e event) String() string {
	return [...]string{"claimed", "wanted", "settled", "taken", "closed", "drained"}[e]
}

// transitions lists all transitions of a lease. An event that is not listed for a state does not
// change it.
//
// The table shows why ids do not stop for good. In each state but ended, a request is retried
// after a short delay until the store answers, and every answer makes progress. In held and
// rotating the worker ID is also renewed, so ids continue while another one is claimed.
//
// An unanswered claim is repeated unchanged, in any state, until an answer settles it: either it
// was granted, and is used or released, or no worker ID is free for it. Only then is another claim
// made.
var transitions = [...]struct {
	from state
	on   event
	to   state
}{
	{acquiring, claimed, held},
	{acquiring, closed, releasing},

	{held, wanted, rotating},
	{held, taken, lost},
	{held, closed, releasing},

	{rotating, claimed, held}, // the previous worker ID is released when the generator no longer uses it
	{rotating, settled, held},
	{rotating, taken, lost},
	{rotating, closed, releasing},

	{lost, claimed, held},
	{lost, closed, releasing},

	{releasing, drained, ended},
}

// move applies an event to the state. It reports whether the state has a transition for it.
func (l *lease) move(e event) bool {
	for _, t := range transitions {
		if t.from == l.state && t.on == e {
			l.state = t.to
			return true
		}
	}
	return false
}

var errReleased = errors.New("worker: the lease was released") // why a lease is over after Release
