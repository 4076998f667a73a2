package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A lease holds a worker ID of a namespace, and renews it until Release. It is the
// [core.GrantSource] of one generator for its whole life.
//
// When another holder has got the worker ID, ids continue under it up to its fence at most.
// Meanwhile the lease claims another worker ID, and the generator continues under that one.
//
// One goroutine of the lease, its owner, makes all requests to the store. Calls wait for the
// outcome as long as their context allows.
//
// The table of its states is below. To follow its life, read on in owner.go: what is done in each
// step; requests.go: what the store is asked; outcome.go: what follows its answers; handover.go:
// what the generator gets; release.go: the end.
type lease struct {
	cfg       Config
	store     driver.Store
	storeType string  // of the store passed to Open, for errors
	limiter   limiter // of the store, if it has one
	warner    warner  // the store, if it is one

	wake chan struct{} // wakes the owner

	opening    context.Context    // ended when acquire has its outcome
	endOpening context.CancelFunc // ends it
	life       context.Context    // ended when the lease is over
	end        context.CancelFunc // ends it

	mu       sync.Mutex // held for each change, and for each read, of what follows
	running  bool       // whether the owner's goroutine runs
	state    state
	err      error         // why the lease is over
	current  *assignment   // what the generator has, or gets next; nil until the first claim
	retiring []*assignment // to be released when no generator uses them
	claiming claiming
	requests requests
	waiting  *waiter // the generator's call of Grant; nil: none
	ending   ending
	reports  reports
	count    struct{ renewals, failures, losses, claims uint64 }

	fenced     time.Time     // since when no id can be issued; zero: ids can be
	clockAhead time.Duration // of the wall clock, after a jump that the store has not confirmed
}

// Worker returns the worker ID that ids are issued under.
func (l *lease) Worker() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.claim.Worker
}

// Err returns nil until life has ended, and then why: [errReleased] or a [*LostError].
func (l *lease) Err() error {
	if l.life.Err() == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// acquire claims a worker ID, which the lease then renews until Release. ctx is for the claim
// only; if it ends first, the error wraps the context's error and the last reason, and a claim
// that the store grants later is released.
func (l *lease) acquire(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("worker: no lease in namespace %q after %v: %w", l.cfg.Namespace, time.Since(l.claiming.began).Round(time.Millisecond), err)
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	l.run()
	waiting := wait(ctx, l.opening.Done())
	l.mu.Lock()
	err = l.err
	if l.opening.Err() == nil { // ctx is done
		if err = waiting; l.claiming.retry.err != nil {
			err = fmt.Errorf("%w, and the last claim: %w", err, l.claiming.retry.err)
		}
		l.close(err)
	}
	l.mu.Unlock()
	if waiting != nil {
		l.run() // to end, or to release what is claimed too late
	}
	if err == nil && l.warner != nil && l.cfg.Observer != nil {
		go l.warn()
	}
	return err
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
	l := &lease{
		cfg: cfg, store: s, storeType: storeType, limiter: limits, warner: warns, wake: make(chan struct{}, 1),
		claiming: claiming{began: time.Now()},
		ending:   ending{changed: make(chan struct{}), store: owned},
		reports:  reports{busy: make(chan struct{}, 1)},
	}
	l.opening, l.endOpening = context.WithCancel(context.Background())
	l.life, l.end = context.WithCancel(context.Background())
	return l, nil
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

// A state is where a lease is in its life. One goroutine, the lease's owner (owner.go),
// moves it from state to state by the transitions below.
type state uint8

const (
	acquiring state = iota // it has no worker ID yet
	held                   // the worker ID is the lease's, and is renewed
	checking               // held, and the store is asked what its clock shows, or whether the lease still has the worker ID
	rotating               // held, and the generator wants another worker ID
	lost                   // the worker ID is another holder's: another one is claimed
	releasing              // the lease is over: what it holds is released
	ended                  // it holds nothing
)

func (s state) String() string {
	return [...]string{"acquiring", "held", "checking", "rotating", "lost", "releasing", "ended"}[s]
}

// An event moves a lease from one state to the next.
type event uint8

const (
	claimed    event = iota // the store has granted a worker ID
	clockLeapt              // the wall clock is more than maxJump ahead of the ids' time
	clockBack               // the wall clock is no longer ahead
	confirmed               // the store's clock agrees with the wall clock, and the worker ID has a holder
	asked                   // the generator wants another worker ID
	unasked                 // the generator has not asked again for a while, and no claim was granted
	taken                   // the worker ID is another holder's
	doubted                 // the worker ID is another claim's, perhaps an unanswered one of this lease
	closed                  // Release was called, acquire gave up, or a loss under StopOnLoss
	drained                 // nothing is left to be released
)

func (e event) String() string {
	return [...]string{"claimed", "clock leapt", "clock back", "confirmed", "asked", "unasked", "taken", "doubted", "closed", "drained"}[e]
}

// transitions is the whole life of a lease. An event that the table does not have
// for a state does not change it.
//
// The table shows why ids do not stop for good. Each state but ended has a request that is
// repeated, after a short delay, until the store answers, and every answer leads on. In held,
// checking and rotating the worker ID is also renewed, so ids continue while another request is
// tried.
//
// A state that claims first repeats a claim that was not answered, as it was (see newClaim), so
// an answer always settles it: it was granted, and is used or released; or no worker ID is free
// for it, and it is over. Then the state makes a claim of its own:
//   - acquiring, lost and rotating use any worker ID that is granted. If none is, they claim
//     again; rotating ends when the generator has not asked for a while.
//   - checking claims its own worker ID. Granted, it is held anew. Refused, it has a holder, and
//     confirmed leads to held, whose renewal finds out whether that is this lease: if not, no
//     claim is unanswered any more, so taken leads to lost.
//   - releasing repeats what is unanswered, releases what is granted, and ends.
var transitions = [...]struct {
	from state
	on   event
	to   state
}{
	{acquiring, claimed, held},
	{acquiring, closed, releasing},

	{held, clockLeapt, checking},
	{held, doubted, checking},
	{held, asked, rotating},
	{held, taken, lost},
	{held, claimed, held}, // the same worker ID, by a claim that was answered late
	{held, closed, releasing},

	{checking, confirmed, held}, // the worker ID is renewed to the new time
	{checking, claimed, held},   // the claim had expired; a new one has the worker ID
	{checking, clockBack, held},
	{checking, asked, rotating},
	{checking, taken, lost},
	{checking, closed, releasing},

	{rotating, claimed, held}, // the worker ID before is released when its generator has left it
	{rotating, unasked, held},
	{rotating, doubted, checking},
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
