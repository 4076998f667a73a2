package worker

import (
	"sync"
	"time"

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
	cfg       Config
	store     driver.Store
	storeType string  // of the store passed to Open, for errors
	limiter   limiter // of the store, if it has one
	warner    warner  // the store, if it is one

	wake    chan struct{} // wakes the owner
	running bool          // whether the owner's goroutine runs; mu is held for this, and for all below

	mu       sync.Mutex
	state    state
	err      error         // why the lease is over
	current  *assignment   // what the generator has, or gets next; nil until the first claim
	retiring []*assignment // to be released when no generator uses them
	claiming claiming
	requests requests
	handed   handed
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

// Err returns nil until done is closed, and then why: [errReleased] or a [*LostError].
func (l *lease) Err() error {
	select {
	case <-l.ending.done:
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
