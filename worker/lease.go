package worker

import (
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A Lease holds a worker ID of a namespace, and renews it until Release. It is the
// [core.GrantSource] of one generator at a time. When that generator is closed, or core.New
// has failed, the next one continues with the same worker ID, above the last id.
//
// When another holder has got the worker ID, ids continue under it up to its fence at most.
// Meanwhile the lease claims another worker ID, and the generator continues under that one.
//
// The zero value is not usable: its methods return a [*core.ConfigError] or nothing. All
// methods may be called by many goroutines.
//
// One goroutine of the lease, its owner, makes all requests to the store. Calls wait for the
// outcome as long as their context allows.
type Lease struct {
	store     driver.Store
	storeType string  // of the store passed to Acquire, for errors
	limiter   limiter // of the store, if it has one
	cfg       Config
	wake      chan struct{}       // wakes the owner
	sleep     func(time.Duration) // set by a test that is the owner itself; see export_test.go

	mu          sync.Mutex // held by the owner for each change, and for each read
	running     bool       // whether the owner's goroutine runs
	state       state
	current     *assignment   // what the generator has, or gets next; nil until the first claim
	retiring    []*assignment // to be released when no generator uses them
	outstanding []outstanding // grants that generators have or may yet take
	waiters     []*waiter     // calls of Grant
	calls       []*call       // not answered by the store yet
	answers     []answer      // not handled by the owner yet
	claimID     string        // of the claim; empty: noClaim
	claim       claimState
	rotation    rotation
	claimRetry  retry         // of claims
	renewRetry  retry         // of the current worker ID
	acquired    chan struct{} // closed when Acquire has its outcome
	began       time.Time     // of Acquire
	expiry      time.Time     // with RequirePreferred: when the worker ID's present claim expires
	releases    int           // calls of Release that wait
	changed     chan struct{} // closed and replaced when a release was answered
	fenced      time.Time     // since when no id can be issued; zero: ids can be
	err         error         // why the lease is over
	events      []core.Event  // for the observer
	reporting   chan struct{} // holds a value while events are reported
	elapsed     time.Duration // of the call whose outcome is being handled; 0: none
	clockAhead  time.Duration // of the wall clock, after a jump that the store has not confirmed
	count       struct{ renewals, failures, losses, claims uint64 }
	done        chan struct{} // closed when the lease is over
	doneOnce    sync.Once     // closes it
}

// Worker returns the worker ID that ids are issued under: datacenter<<WorkerBits | worker.
// It changes when the worker ID is lost, or replaced by core.Rotate. It is -1 for a Lease
// that does not come from Acquire.
func (l *Lease) Worker() int64 {
	if l.valid() != nil {
		return -1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.claim.Worker
}

// Done returns a channel that is closed when the lease has ended: after Release, or, with
// Config.StopOnLoss, after a loss.
func (l *Lease) Done() <-chan struct{} {
	if l.valid() != nil {
		return nil
	}
	return l.done
}

// Err returns nil until Done is closed, and then why: [ErrReleased] or a [*LostError].
func (l *Lease) Err() error {
	select {
	case <-l.Done():
	default:
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Layout returns the layout of the ids, with its defaults filled in.
func (l *Lease) Layout() core.Layout {
	if l.valid() != nil {
		return core.Layout{}
	}
	return l.cfg.Layout
}

// valid returns an error for a Lease that does not come from Acquire.
func (l *Lease) valid() error {
	if l != nil && l.store != nil {
		return nil
	}
	return fields.Error("worker", "Lease", nil, "must come from Acquire")
}

// move applies an event to the state. It reports whether the state has a transition for it.
func (l *Lease) move(e event) bool {
	next, ok := l.state.on(e)
	l.state = next
	return ok
}

// setClaim notes the claim that the lease makes. With noClaim, id is empty.
func (l *Lease) setClaim(s claimState, id string) { l.claim, l.claimID = s, id }
