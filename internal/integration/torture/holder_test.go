//go:build unix

package torture

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// space is the namespace of all processes of a store.
const space = "torture"

// layout has eight worker IDs, and small ticks, so that fast processes are at the end of
// their grants most of the time.
func layout() core.Layout {
	return core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 3, SequenceBits: 10}
}

// A holder is a process that leases a worker ID, issues ids as fast as it can, releases the
// lease and begins again.
type holder struct {
	store driver.Store
	rand  *random
	book  *logbook
	clock *clock
	naive bool
	lost  chan struct{} // receives a value when a worker ID is lost

	inside  pit // of Next and Fill
	outside pit // between them and the use of the ids
}

func (k task) open() (driver.Store, *logbook, error) {
	store, err := openStore(k.Store, k.DSN)
	if err != nil {
		return nil, nil, err
	}
	book, err := openLogbook(k.Book)
	return store, book, err
}

func hold(ctx context.Context, k task) error {
	store, book, err := k.open()
	if err != nil {
		return err
	}
	h := &holder{rand: newRandom(k.Seed, 1), book: book, clock: newClock(newRandom(k.Seed, 2)), naive: k.Naive, lost: make(chan struct{}, 1)}
	h.store = &network{store: store, rand: newRandom(k.Seed, 3), book: book}
	h.inside.dig(h.rand)
	h.outside.dig(h.rand)
	for ctx.Err() == nil {
		if err := h.tenure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A pit is a place where the process sometimes pauses for longer than its fencing window.
type pit struct{ at atomic.Int64 } // when next, in Unix nanoseconds

func (p *pit) dig(r *random) {
	p.at.Store(time.Now().Add(r.duration(0, 12*time.Second)).UnixNano())
}

func (p *pit) due() bool { return time.Now().UnixNano() > p.at.Load() }

func (h *holder) pass(p *pit) {
	if at := p.at.Load(); p.due() && p.at.CompareAndSwap(at, 1<<62) {
		h.book.write(record{kind: stalled})
		time.Sleep(h.rand.duration(window+100*time.Millisecond, 2*window))
		p.dig(h.rand)
	}
}

// now is the clock, and a pit in the middle of issuing: the generator has chosen its allocator
// and a slot, and has not yet compared the fence or taken the slot. The other pit comes after
// that. The lease has the same clock, and no pit.
func (h *holder) now() time.Time {
	now := h.clock.now()
	if h.inside.due() && issuing() {
		h.pass(&h.inside)
	}
	return now
}

// issuing reports whether a call of Next or Fill has called its caller.
func issuing() bool {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "core.(*Generator).Next") || strings.HasSuffix(frame.Function, "core.(*Generator).Fill") {
			return true
		}
		if !more {
			return false
		}
	}
}

// Observe implements core.Observer.
func (h *holder) Observe(e core.Event) {
	switch e.Kind {
	case worker.Lost:
		h.notifyLost()
		h.book.write(record{n: uint32(e.Worker), kind: lost})
	case worker.Forgotten:
		h.notifyLost()
		h.book.write(record{n: uint32(e.Worker), kind: forgotten})
	case worker.FloorRaised:
		h.book.write(record{kind: noticed})
	}
}

func (h *holder) notifyLost() {
	select {
	case h.lost <- struct{}{}:
	default:
	}
}

// tenure is one lease from its claim to its release. It returns only errors that a lease or a
// generator must not return here.
func (h *holder) tenure(ctx context.Context) error {
	cfg := worker.Config{
		Namespace: space, Layout: layout(), FenceWindow: window, MaxSkew: skew, RenewInterval: renew,
		ClaimWait: 3 * time.Second,
	}
	if h.rand.oneIn(4) {
		id := h.rand.below(layout().WorkerIDs())
		cfg.Preferred = &id
	}
	if h.naive {
		return h.tenureUnfenced(ctx, cfg)
	}
	cfg.ClockPolicy, cfg.Sequence, cfg.MaxWait = h.strategy(), core.SequenceStart(h.rand.below(3)), h.rand.duration(10*time.Millisecond, renew)
	cfg.Now, cfg.Observer = h.now, h
	gen, err := worker.Open(ctx, h.store, cfg)
	if err != nil {
		return h.noLease(ctx, err)
	}
	return h.use(ctx, gen, gen, func() {})
}

// tenureUnfenced issues ids without a fence.
func (h *holder) tenureUnfenced(ctx context.Context, cfg worker.Config) error {
	bare := new(unfenced)
	cfg.Now, cfg.Observer = h.clock.now, bare
	leased, err := worker.Open(ctx, h.store, cfg)
	if err != nil {
		return h.noLease(ctx, err)
	}
	defer leased.Close(context.Background())
	bare.leased = leased
	gen, err := core.New(core.Config{
		Worker: bare, ClockPolicy: h.strategy(), Sequence: core.SequenceStart(h.rand.below(3)), Now: h.now,
		MaxWait: h.rand.duration(10*time.Millisecond, renew),
	})
	switch {
	case errors.Is(err, core.ErrLost): // it stood still between the two
		return nil
	case err != nil:
		return fmt.Errorf("new generator: %w", err)
	}
	return h.use(ctx, leased, gen, gen.Close)
}

// noLease handles the error of a claim.
func (h *holder) noLease(ctx context.Context, err error) error {
	var config *core.ConfigError
	var other *worker.LayoutError
	var window *worker.WindowError
	var lossy *worker.DurabilityError
	var none *worker.NoWorkerIDError
	switch {
	case errors.As(err, &config), errors.As(err, &other), errors.As(err, &window), errors.As(err, &lossy), errors.Is(err, core.ErrInUse), errors.Is(err, core.ErrClosed):
		return fmt.Errorf("open: %w", err)
	case errors.As(err, &none):
		h.book.write(record{kind: noneFree})
	default:
		h.book.write(record{kind: failed})
	}
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
	}
	return nil
}

// strategy picks the clock policy of the generator.
func (h *holder) strategy() core.ClockPolicy {
	all := []core.ClockPolicy{
		core.Logical{}, core.Logical{}, core.Logical{MaxAhead: 100 * time.Millisecond}, core.Rotate{}, core.Rotate{},
		core.Rollback{}, core.Reuse{}, core.Wait{}, core.Refuse{}, core.Logical{Detached: true},
	}
	if h.naive {
		all = all[:len(all)-1] // it needs a bound
	}
	return all[h.rand.below(int64(len(all)))]
}

// use draws from the generator with several goroutines for a while, then closes it: after the
// goroutines have ended, or while they draw. Unfenced, the generator is not the one with the lease,
// and is closed before or after it.
func (h *holder) use(ctx context.Context, leased *worker.Generator, gen sqltype.Source, closeUnfenced func()) error {
	var lost <-chan struct{}
	if h.rand.oneIn(4) { // it ends at a loss
		lost = h.lost
	}
	halt := make(chan struct{})
	errs := make(chan error, 3)
	var drawers sync.WaitGroup
	for range h.rand.between(1, 3) {
		drawers.Go(func() { errs <- h.draw(halt, gen) })
	}
	select {
	case <-time.After(h.rand.duration(100*time.Millisecond, 3*time.Second)):
	case <-lost:
	case <-ctx.Done():
	}
	release := func() { _ = leased.Close(context.Background()) } // a store that fails is its own business
	switch h.rand.below(3) {
	case 0:
		close(halt)
		drawers.Wait()
		closeUnfenced()
		release()
	case 1:
		release()
		closeUnfenced()
		close(halt)
	case 2:
		closeUnfenced()
		release()
		close(halt)
	}
	drawers.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
