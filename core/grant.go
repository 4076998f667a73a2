package core

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A GrantSource gives a generator its grants. Package worker implements it with leases.
//
// New calls Grant with a nil prev. A generator that needs another grant calls it with the one
// it has; [Grant.RegrantReason] says why. If prev is exhausted, Grant may return prev itself
// once its fence has risen. Grant must not give the same worker ID to two generators, and must
// return when its context is done, because calls of Next wait for it.
//
// The generator closes a grant that it does not take. A GrantSource that wraps another one
// must close the grants that it does not pass on. See [Grant.Done].
type GrantSource interface {
	Grant(ctx context.Context, prev *Grant) (*Grant, error)
}

// A RegrantReason is why a generator asks its GrantSource for another grant.
type RegrantReason uint8

// The reasons; see [Grant.RegrantReason].
const (
	RegrantNone      RegrantReason = iota // the generator has not asked for another
	RegrantLost                           // the grant was revoked or closed
	RegrantExhausted                      // ids have reached the fence, which has not risen within Config.MaxWait
	RegrantRotate                         // the clock stepped back, and ids are to continue under another worker ID; see Rotate
)

// String describes the reason in words.
func (r RegrantReason) String() string {
	if r > RegrantRotate {
		return "unknown reason"
	}
	return [...]string{"not asked", "grant lost", "grant exhausted", "clock stepped back"}[r]
}

// RegrantReason returns why the generator last asked for a grant in place of this one.
func (g *Grant) RegrantReason() RegrantReason { return RegrantReason(g.reason.Load()) }

// Fixed returns a GrantSource for one worker ID that is known to be free, for example from a
// configuration file. In a layout with a datacenter field it is datacenter<<WorkerBits |
// worker. [New] checks it against the layout.
//
// Its grants have no fence and leave no trace on disk: the package comment says what that
// means for a restart. The value serves one generator at a time, each above the ids of the one
// before: until that is closed, a second New returns [ErrInUse].
func Fixed(worker int64) GrantSource { return &fixed{worker: worker} }

type fixed struct {
	worker int64

	mu   sync.Mutex
	last *Grant
}

func (f *fixed) Grant(_ context.Context, prev *Grant) (*Grant, error) {
	if prev != nil {
		return nil, fmt.Errorf("core: Fixed(%d) has no other worker ID: %w", f.worker, ErrLost)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	next := newGrant(nil, f.worker, 0, noFence)
	if f.last != nil {
		if f.last.life.Err() == nil {
			return nil, ErrInUse
		}
		next.after = f.last.Close()
	}
	f.last = next
	return next, nil
}

const noFence = math.MaxUint64 // a fence that no tick reaches

// A Grant is the right to issue ids under one worker ID, with times from its beginning to its
// fence. The fence may rise while ids are issued, and the grant may be revoked. A grant serves
// one generator, once. All methods are safe for concurrent use.
type Grant struct {
	layout    *compiledLayout // nil: any layout, as for Fixed
	worker    int64
	first     uint64                    // the first tick
	after     time.Time                 // ids begin here or later; for a grant without a layout
	fence     atomic.Uint64             // the first tick that is forbidden; only rises, except to 0 when revoked
	hasFence  bool                      // whether a fence was given, which is durable
	window    uint64                    // ticks from the first one to the first fence; 0 without a fence
	skip      uint64                    // ticks that a new holder skips: 1 without a fence, as another generator may have issued in the present one
	allocator atomic.Pointer[allocator] // of the generator that has the grant; nil: it has issued nothing
	reason    atomic.Uint32             // a RegrantReason

	life    context.Context    // ended when no generator has the grant or will have it
	end     context.CancelFunc // ends it
	reached chan struct{}      // see FenceReached

	mu        sync.Mutex
	attached  bool          // a generator has, or had, the grant
	highWater uint64        // the first tick above those of its earlier allocators
	revoked   error         // why; nil: it is not
	fenceErr  error         // why the fence does not rise at present
	changed   chan struct{} // closed and replaced when fence, revoked or fenceErr changes
}

// NewGrant returns a grant of the worker ID datacenter<<WorkerBits | worker. Its ids
// begin at from (zero: the layout's epoch), even if that is ahead of the clock, and end before
// fence (zero: no end). Invalid arguments are a [ConfigError].
//
// By passing a fence the caller promises that it is recorded durably, that no other grant of
// this worker ID begins below it, and that none has issued ids with times at from or later, nor
// has [Fixed]. So ids may begin in the present tick, and only below a fence may they run ahead
// of the clock, see [Logical].
func NewGrant(l Layout, worker int64, from, fence time.Time) (*Grant, error) {
	c, err := l.compile()
	if err != nil {
		return nil, err
	}
	invalid := c.checkWorker(worker)
	if from.IsZero() {
		from = c.Epoch
	}
	if !c.contains(from) {
		invalid = append(invalid, FieldError{"from", formatTime(from), "must be within the layout's time, " + formatTime(c.Epoch) + " to " + formatTime(c.end)})
	}
	if !fence.IsZero() && fence.Before(from) {
		invalid = append(invalid, FieldError{"fence", formatTime(fence), "must not be before from, " + formatTime(from)})
	}
	if err := configError(invalid...); err != nil {
		return nil, err
	}
	tick := uint64(noFence)
	if !fence.IsZero() {
		tick = c.fenceTick(fence)
	}
	return newGrant(&c, worker, c.tickFrom(from), tick), nil
}

func newGrant(l *compiledLayout, worker int64, first, fence uint64) *Grant {
	g := &Grant{layout: l, worker: worker, first: first, hasFence: fence != noFence, changed: make(chan struct{}), reached: make(chan struct{}, 1)}
	if !g.hasFence {
		g.skip = 1
	} else if fence > first {
		g.window = fence - first
	}
	g.life, g.end = context.WithCancel(context.Background())
	g.fence.Store(fence)
	return g
}

// RaiseFence raises the fence, once the new one is recorded durably, and clears the error of
// SetFenceError. It never lowers the fence. It does nothing if the grant is revoked or has no
// fence.
func (g *Grant) RaiseFence(fence time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hasFence || g.revoked != nil {
		return
	}
	g.fenceErr = nil
	if tick := g.layout.fenceTick(fence); tick > g.fence.Load() {
		g.fence.Store(tick)
		g.notify()
	}
}

// SetFenceError makes calls that reach the fence fail at once, with an [ErrFenced] that wraps
// err, instead of waiting for Config.MaxWait. A [GrantSource] sets it while it cannot raise
// the fence. Ids below the fence are issued as before. RaiseFence and a nil err clear it.
func (g *Grant) SetFenceError(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.fenceErr
	g.fenceErr = err
	if before == nil && err != nil {
		g.notify() // so that calls that wait already fail too
	}
}

// FenceReached returns a channel that receives a value when the generator has reached the
// fence and waits for it to rise, so that a [GrantSource] can raise it early. It is always the
// same channel, and holds at most one value.
func (g *Grant) FenceReached() <-chan struct{} { return g.reached }

// signalReached is called by a generator that begins to wait at the fence.
func (g *Grant) signalReached() {
	select {
	case g.reached <- struct{}{}:
	default:
	}
}

// Revoke ends the grant: its generator asks for another one, or returns [ErrLost], which wraps
// err. An id that is being issued at this moment may still be returned; it is below the fence.
func (g *Grant) Revoke(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.revoked != nil {
		return
	}
	g.revoked = ErrLost
	if err != nil {
		g.revoked = fmt.Errorf("%w: %w", ErrLost, err)
	}
	g.fence.Store(0)
	g.notify()
	if !g.attached { // and none will take it
		g.end()
	}
}

// Close revokes the grant and returns the first instant that none of its ids carries, so that
// the time from there on can be given back. If it has issued no id, that is its beginning. When
// Close has returned, no more ids are issued under the grant.
func (g *Grant) Close() (firstUnused time.Time) {
	g.Revoke(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.allocator.Load(); a == nil {
		g.end()
	} else if at := a.close(); at.issued || g.highWater > 0 {
		// An allocator that has issued nothing does not count: NotBefore, or a wrong clock, may
		// have put its beginning anywhere.
		return a.layout.startOf(max(at.lastIssued+1, g.highWater))
	}
	if g.layout == nil {
		return g.after
	}
	return g.layout.startOf(g.first)
}

// Done returns a channel that is closed when no generator has the grant and none will take it:
// its generator was closed or continues under another grant, or the grant was revoked or closed before
// a generator took it, as New does when it fails. Then no more ids are issued under it, Close
// returns where they end, and a [GrantSource] can pass on or give back the rest of its time.
//
// A generator whose grant is revoked or closed keeps it until it has another, or is closed.
func (g *Grant) Done() <-chan struct{} { return g.life.Done() }

// attach gives the grant to a generator, which then closes it if it cannot use it. It returns
// ErrInUse, or an ErrLost if the grant was revoked before.
func (g *Grant) attach() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.attached:
		return cmp.Or(g.revoked, ErrInUse)
	case g.revoked != nil:
		return g.revoked
	}
	g.attached = true
	return nil
}

// swap closes an allocator and puts another one of the same generator in its place. It returns
// the first tick in which the old one has not issued.
func (g *Grant) swap(from, to *allocator) (unused uint64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.revoked != nil {
		return 0, g.revoked
	}
	unused = from.close().lastIssued + 1
	g.highWater = max(g.highWater, unused)
	g.allocator.Store(to)
	return unused, nil
}

// mark returns the first tick above those of earlier allocators.
func (g *Grant) mark() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.highWater
}

// notify wakes the calls that watch the grant; g.mu is held.
func (g *Grant) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// watch returns why the grant is revoked, the error of SetFenceError, and a channel that is
// closed at the next change.
func (g *Grant) watch() (changed <-chan struct{}, revoked, fenceErr error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed, g.revoked, g.fenceErr
}
