package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A Lease holds a worker number of a space, kept alive until Release. It is the
// [core.GrantSource] of one generator at a time: when that is closed, or core.New has
// failed, the next one goes on under the same number, behind the last id.
//
// When the number is lost to another holder, ids go on under it up to its bound
// at most; meanwhile the lease claims another number, and the generator goes on
// under that one. All methods may be called from any goroutine.
//
// One goroutine, the lease's owner, makes all requests to the store, one at a time, and
// only it changes the lease's state. Calls wait for the outcome as long as their context
// allows.
type Lease struct {
	store driver.Store
	queue limiter // of the store, if it has one
	cfg   Config
	wake  chan struct{}       // wakes the owner
	sleep func(time.Duration) // set by a test that is the owner itself; see export_test.go

	mu       sync.Mutex // held by the owner for each change, and for each read
	owned    bool       // whether there is an owner
	state    state
	current  *holding      // what the generator has, or gets next; nil until the first claim
	leaving  []*holding    // to be released when no generator uses them
	out      []lent        // grants that generators have or may yet take
	asks     []*ask        // calls of Grant that wait
	calls    []*call       // not answered by the store yet
	answers  []answer      // not handled by the owner yet
	token    string        // of a claim whose outcome is unknown: the next attempt repeats it
	unsure   bool          // whether an attempt with the token was not answered
	wish     wish          // of the generator, for another worker ID
	claims   retry         // of claims
	renewal  retry         // of the current worker ID
	acquired chan struct{} // closed when Acquire has its outcome
	began    time.Time     // of Acquire
	expiry   time.Time     // with Only: when the worker ID's present claim expires
	releases int           // calls of Release that wait
	changed  chan struct{} // closed and replaced when a release was answered
	fenced   time.Time     // since when no id can be issued; zero: ids can be
	err      error         // why the lease is over
	events   []core.Event  // for the observer
	stats    Stats
	done     chan struct{} // closed when the lease is over
	over     sync.Once     // closes it
}

// Acquire claims a number of cfg.Space in the store and keeps it until the lease
// is released. ctx is for the claim only. If it ends while no number is free, or while the
// store fails, the error wraps the context's error and the reason, and a claim that the
// store grants later is released.
//
// The guarantee: no two generators of one space ever issue the same id, whatever
// their clocks, pauses, crashes, lost replies and takeovers do, provided that the
// store loses no acknowledged write, that no holder's memory is copied while it
// runs (a restored snapshot of a machine, a fork), and that all who make ids for
// the same tables use this space.
//
// The errors are [*core.ConfigError], [*NoWorkerIDError], [*SkewError], [*LayoutError],
// [*DurabilityError], core.ErrTimestampExhausted, and what the store fails with. Where no number is
// free, or the store fails with an error that may be temporary, Acquire retries for
// Config.MaxWait. Any other error, such as that of a wrong password, it returns at once.
func Acquire(ctx context.Context, s driver.Store, cfg Config) (*Lease, error) {
	l, err := newLease(s, cfg)
	if err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := l.acquire(ctx); err != nil {
		return nil, fmt.Errorf("worker: space %q gave no number in %v: %w", l.cfg.Namespace, time.Since(l.began).Round(time.Millisecond), err)
	}
	if w, ok := s.(warner); ok && cfg.Observer != nil {
		go l.warn(w)
	}
	return l, nil
}

// A warner is a store that knows of settings that might lose an acknowledged write.
type warner interface {
	Warnings(ctx context.Context) ([]string, error)
}

// warn reports the store's warnings. It ignores errors: failed renewals report them.
func (l *Lease) warn(w warner) {
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
	defer cancel()
	warnings, _ := w.Warnings(ctx)
	for _, text := range warnings {
		l.cfg.Observer.Observe(core.Event{Kind: StoreWarning, Level: slog.LevelWarn, Namespace: l.cfg.Namespace, Worker: l.Worker(), Err: errors.New(text)})
	}
}

func newLease(s driver.Store, cfg Config) (*Lease, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	if isNil(s) {
		return nil, configError("Store", nil, "must be given, for example by sqlstore.New")
	}
	var queue limiter
	if q, ok := s.(limiter); ok {
		queue = q
	}
	if cfg.Datacenter != nil {
		s = withinDatacenter(s, cfg.Layout, *cfg.Datacenter)
	}
	return &Lease{
		store: s, queue: queue, cfg: cfg, wake: make(chan struct{}, 1), began: time.Now(),
		acquired: make(chan struct{}), changed: make(chan struct{}), done: make(chan struct{}),
	}, nil
}

// acquire waits until the owner has claimed a number, or has given up.
func (l *Lease) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	l.run()
	l.mu.Unlock()
	waiting := l.wait(ctx, l.acquired)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == acquiring { // and ctx is done
		err := waiting
		if l.claims.err != nil {
			err = fmt.Errorf("%w, and the last claim: %w", waiting, l.claims.err)
		}
		l.close(err)
		return err
	}
	return l.err
}

// givesUp reports whether Acquire returns after a failed claim instead of retrying.
func (l *Lease) givesUp(err error) bool {
	if driver.IsPermanent(err) {
		return true
	}
	var none *NoWorkerIDError
	if l.cfg.waitForTTL && errors.As(err, &none) && none.Wait > 0 {
		expiry := time.Now().Add(none.Wait)
		if l.expiry.IsZero() {
			l.expiry = expiry
		}
		renewed := expiry.Sub(l.expiry) > l.cfg.RenewInterval/2 // its holder is alive
		return renewed || l.claims.at.Sub(l.expiry) > time.Second
	}
	if !l.expiry.IsZero() && l.claims.at.Sub(l.expiry) <= time.Second {
		return false // a failure meanwhile
	}
	return l.claims.at.Sub(l.began) > l.cfg.MaxWait
}

// isNil reports whether there is nothing in an interface, or a pointer or function
// that is nil, and that a method would be called on all the same.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map:
		return r.IsNil()
	}
	return false
}

// unmade is the error of a Lease that does not come from Acquire.
func (l *Lease) unmade() error {
	if l != nil && l.store != nil {
		return nil
	}
	return configError("Lease", nil, "must come from Acquire")
}

// Worker is the number that is held now: datacenter<<WorkerBits | worker. It
// changes when the number is lost.
func (l *Lease) Worker() int64 {
	if l.unmade() != nil {
		return -1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.claim.Worker
}

// Done is closed when the lease has ended: after Release, or with StopOnLoss
// when the number was lost.
func (l *Lease) Done() <-chan struct{} {
	if l.unmade() != nil {
		return nil
	}
	return l.done
}

// Err is nil until Done is closed, and then says why: ErrReleased or a [LostError].
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

// Layout is the layout of the ids, its defaults filled in.
func (l *Lease) Layout() core.Layout {
	if l.unmade() != nil {
		return core.Layout{}
	}
	return l.cfg.Layout
}
