package worker

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A lease holds a worker ID of a namespace, and renews it until Release. It is the
// [core.GrantSource] of one generator at a time. When that generator is closed, or core.New
// has failed, the next one continues with the same worker ID, above the last id.
//
// When another holder has got the worker ID, ids continue under it up to its fence at most.
// Meanwhile the lease claims another worker ID, and the generator continues under that one.
//
// One goroutine of the lease, its owner, makes all requests to the store. Calls wait for the
// outcome as long as their context allows.
type lease struct {
	store     driver.Store
	storeType string  // of the store passed to Open, for errors
	limiter   limiter // of the store, if it has one
	warner    warner  // the store, if it is one
	cfg       Config
	wake      chan struct{} // wakes the owner

	mu          sync.Mutex // held by the owner for each change, and for each read
	running     bool       // whether the owner's goroutine runs
	state       state
	current     *assignment   // what the generator has, or gets next; nil until the first claim
	retiring    []*assignment // to be released when no generator uses them
	outstanding []outstanding // grants that generators have or may yet take
	waiters     []*waiter     // calls of Grant
	calls       []*call       // not answered by the store yet
	lastFailed  atomic.Bool   // the last request that was made; of the limiter
	answers     []answer      // not handled by the owner yet
	claim       claimState
	request     driver.Request // of the claim; zero: noClaim
	rotation    rotation
	claimRetry  retry         // of claims
	renewRetry  retry         // of the current worker ID
	acquired    chan struct{} // closed when the first claim has its outcome
	began       time.Time     // of acquire
	expiry      time.Time     // with RequirePreferred: when the worker ID's present claim expires
	releases    int           // calls of Release that wait
	owned       closer        // the store, if only this lease uses it; nil: it is closed
	storeOver   bool          // owned is to be closed when the owner has ended
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

// Worker returns the worker ID that ids are issued under.
func (l *lease) Worker() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.claim.Worker
}

// Err returns nil until done is closed, and then why: [errReleased] or a [*LostError].
func (l *lease) Err() error {
	select {
	case <-l.done:
	default:
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// move applies an event to the state. It reports whether the state has a transition for it.
func (l *lease) move(e event) bool {
	next, ok := l.state.on(e)
	l.state = next
	return ok
}

// setClaim notes the claim that the lease makes. With noClaim, r is zero.
func (l *lease) setClaim(s claimState, r driver.Request) { l.claim, l.request = s, r }
