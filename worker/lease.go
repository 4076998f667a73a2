package worker

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Lease holds a worker number of a space, kept alive until Release. It is the
// [core.Worker] of one generator at a time: when that is closed, or core.New has
// failed, the next one goes on under the same number, behind the last id.
//
// When the number is lost to another holder, ids go on under it up to its bound
// at most; meanwhile the lease claims another number, and the generator goes on
// under that one. All methods may be called from any goroutine.
type Lease struct {
	store    Store
	cfg      Config
	life     context.Context // ends with Release
	end      func()
	done     chan struct{} // closed when the lease has ended
	stopped  chan struct{} // closed when nothing is done in the background any more
	kick     chan struct{} // something new is due
	claiming chan struct{} // held by who claims, or hands out a grant
	giving   chan struct{} // held by Release

	mu      sync.Mutex
	cur     *holding
	retired []*holding // numbers exchanged for others, yet to be released
	out     []lent     // what generators have or may yet take
	token   string     // of the claim under way, kept when it is repeated
	ended   bool
	err     error
	stats   Stats
}

// A holding is one claim and the grant made of it.
type holding struct {
	claim   Claim
	token   string
	grant   *core.Grant // changed under l.claiming and l.mu, by again
	clock   *carried
	until   int64     // the highest bound that the store has acknowledged
	due     time.Time // when to renew; once lost, when to claim another; once retired, when to release
	tries   int       // that failed in a row
	failing error
	lost    error
	handed  bool // to the generator
	given   bool // back: a release was sent, which may take effect at any time from then on
	told    EventKind
}

// left is how long ids can go on under the bound; l.mu is held.
func (h *holding) left() time.Duration {
	now, _ := h.clock.read()
	return max(time.UnixMilli(h.until).Sub(now), 0)
}

// Acquire claims a number of cfg.Space in the store and keeps it until the lease
// is released. ctx is for the claim only: when it ends while no number is free, or while the
// store fails, the error is both the context's and what was being waited for.
//
// The guarantee: no two generators of one space ever issue the same id, whatever
// their clocks, pauses, crashes, lost replies and takeovers do, provided that the
// store loses no acknowledged write, that no holder's memory is copied while it
// runs (a restored snapshot of a machine, a fork), and that all who make ids for
// the same tables use this space.
//
// The errors are [*ConfigError], [*NoneFreeError], [*SkewError], [*LayoutError],
// [*LossyError], core.ErrTimeOver, and what the store fails with. Where no number is
// free, and where the store fails with what may pass, Acquire tries again for
// Config.MaxWait; any other error, such as that of a wrong password, it gives at once.
func Acquire(ctx context.Context, s Store, cfg Config) (*Lease, error) {
	l, err := acquire(ctx, s, cfg)
	if err != nil {
		return nil, err
	}
	l.stopped = make(chan struct{})
	go l.run()
	return l, nil
}

// acquire is Acquire without anything in the background.
func acquire(ctx context.Context, s Store, cfg Config) (*Lease, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	if isNil(s) {
		return nil, configError([]core.Fault{{Field: "Store", Value: "nil", Reason: "must be given, for example sqlstore.New(db, …)"}})
	}
	if datacenter, ok := cfg.datacenter(); ok {
		s = withinDatacenter(s, cfg.Layout, datacenter)
	}
	l := &Lease{
		store: s, cfg: cfg, done: make(chan struct{}), stopped: make(chan struct{}),
		kick: make(chan struct{}, 1), claiming: make(chan struct{}, 1), giving: make(chan struct{}, 1),
	}
	close(l.stopped)
	l.life, l.end = context.WithCancel(context.Background())
	began := time.Now()
	var before error // why the claim before this one failed
	for tries := 0; ; tries++ {
		h, err := l.claim(ctx, -1, l.cfg.MaxLead)
		if err == nil {
			l.cur = h
			l.tell(Claimed, h, nil)
			return l, nil
		}
		wait := l.backOff(tries)
		if final(err) || ctx.Err() != nil || time.Since(began)+wait > cfg.MaxWait {
			l.end()
			if done := ctx.Err(); done != nil { // which says that the waiting is over, and not what for
				err = waited(done, err, before)
			}
			return nil, fmt.Errorf("worker: space %q gave no number in %v: %w", cfg.Space, time.Since(began).Round(time.Millisecond), err)
		}
		before = err
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// waited is the error of a wait that the context has ended: its own, and with it what the
// last claim that was answered has failed with.
func waited(done, err, before error) error {
	switch {
	case !errors.Is(err, done):
		return fmt.Errorf("%w, and the last claim: %w", done, err)
	case before != nil:
		return fmt.Errorf("%w; the claim before that: %w", err, before)
	}
	return err
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
	return configError([]core.Fault{{Field: "Lease", Value: "nil or zero", Reason: "must come from Acquire, Protect or FromPool"}})
}

// final reports whether trying again soon makes no difference. A store's own errors
// may say so of themselves.
func final(err error) bool {
	var permanent interface{ Permanent() bool }
	if errors.As(err, &permanent) && permanent.Permanent() {
		return true
	}
	var config *ConfigError
	var skew *SkewError
	var layout *LayoutError
	var lossy *LossyError
	return errors.As(err, &config) || errors.As(err, &skew) || errors.As(err, &layout) || errors.As(err, &lossy) || errors.Is(err, core.ErrTimeOver)
}

const maxBackOff = 500 * time.Millisecond

// backOff is how long to wait after so many failures: at most half a second.
func (l *Lease) backOff(tries int) time.Duration {
	d := min(50*time.Millisecond<<min(tries, 8), maxBackOff)
	return d/2 + time.Duration(float64(d/2)*l.cfg.rand())
}

// Worker is the number that is held now: datacenter<<WorkerBits | worker. It
// changes when the number is lost.
func (l *Lease) Worker() int64 {
	if l.unmade() != nil {
		return -1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cur.claim.Worker
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
