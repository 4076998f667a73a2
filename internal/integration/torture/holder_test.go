//go:build unix

package torture

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
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

	inside  pit // of Next and Fill
	outside pit // between them and the use of the ids
}

func hold(ctx context.Context, k task) error {
	store, err := openStore(k.Store, k.DSN)
	if err != nil {
		return err
	}
	book, err := openLogbook(k.Book)
	if err != nil {
		return err
	}
	h := &holder{rand: newRandom(k.Seed, 1), book: book, clock: newClock(newRandom(k.Seed, 2)), naive: k.Naive}
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

func (h *holder) pass(p *pit) {
	if at := p.at.Load(); time.Now().UnixNano() > at && p.at.CompareAndSwap(at, 1<<62) {
		h.book.write(record{kind: stalled})
		time.Sleep(h.rand.duration(window+100*time.Millisecond, 2*window))
		p.dig(h.rand)
	}
}

// now is the clock of the generator, and a pit in the middle of issuing: the generator has
// chosen its allocator and a slot, and has not yet compared the fence or taken the slot. The
// other pit comes after that.
func (h *holder) now() time.Time {
	now := h.clock.now()
	h.pass(&h.inside)
	return now
}

// Observe implements core.Observer.
func (h *holder) Observe(e core.Event) {
	if e.Kind == worker.Lost {
		h.book.write(record{n: uint32(e.Worker), kind: lost})
	}
}

// tenure is one lease from its claim to its release. It returns only errors that a lease or a
// generator must not return here.
func (h *holder) tenure(ctx context.Context) error {
	cfg := worker.Config{
		Namespace: space, Layout: layout(), FenceWindow: window, RenewInterval: renew, TTL: ttl,
		MaxWait: 3 * time.Second, MaxLead: 20 * time.Second,
		StopOnLoss: h.rand.oneIn(4), Now: h.clock.now, Observer: h,
	}
	if h.rand.oneIn(4) {
		id := h.rand.below(layout().WorkerIDs())
		cfg.Preferred = &id
	}
	var bare *unfenced
	if h.naive {
		bare = new(unfenced)
		cfg.Observer = bare
	}
	lease, err := worker.Acquire(ctx, h.store, cfg)
	if err != nil {
		return h.noLease(ctx, err)
	}
	defer lease.Close()
	var source core.GrantSource = lease
	if bare != nil {
		bare.lease, source = lease, bare
	}
	gen, err := core.New(core.Config{
		Worker: source, ClockPolicy: h.strategy(), Sequence: core.SequenceStart(h.rand.below(3)), Now: h.now,
		MaxWait: h.rand.duration(10*time.Millisecond, renew),
	})
	switch {
	case errors.Is(err, core.ErrLost), errors.Is(err, worker.ErrLost): // it stood still between the two
		return nil
	case errors.As(err, new(*worker.RetryError)): // the clock leapt between the two, and the store has not confirmed it
		h.book.write(record{kind: failed})
		return nil
	case err != nil:
		return fmt.Errorf("new generator: %w", err)
	}
	defer gen.Close()
	if h.rand.oneIn(3) {
		if err := second(lease); err != nil {
			return err
		}
	}
	return h.use(ctx, lease, gen)
}

// noLease handles the error of a claim.
func (h *holder) noLease(ctx context.Context, err error) error {
	var config *core.ConfigError
	var other *worker.LayoutError
	var lossy *worker.DurabilityError
	var none *worker.NoWorkerIDError
	switch {
	case errors.As(err, &config), errors.As(err, &other), errors.As(err, &lossy):
		return fmt.Errorf("acquire: %w", err)
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

// second checks that a lease serves only one generator.
func second(lease *worker.Lease) error {
	gen, err := core.New(core.Config{Worker: lease})
	if err == nil {
		_ = gen.Close()
	}
	if !errors.Is(err, core.ErrInUse) && !errors.Is(err, worker.ErrLost) {
		return fmt.Errorf("a second generator on one lease: %v", err)
	}
	return nil
}

// use draws from the generator with several goroutines for a while, then closes the
// generator and the lease: after the goroutines have ended, or while they draw.
func (h *holder) use(ctx context.Context, lease *worker.Lease, gen *core.Generator) error {
	halt := make(chan struct{})
	errs := make(chan error, 3)
	var drawers sync.WaitGroup
	for range h.rand.between(1, 3) {
		drawers.Go(func() { errs <- h.draw(halt, lease, gen) })
	}
	select {
	case <-time.After(h.rand.duration(100*time.Millisecond, 3*time.Second)):
	case <-lease.Done():
	case <-ctx.Done():
	}
	switch h.rand.below(3) {
	case 0:
		close(halt)
		drawers.Wait()
		_ = gen.Close()
		_ = lease.Close() // a store that fails is its own business
	case 1:
		_ = lease.Close()
		_ = gen.Close()
		close(halt)
	case 2:
		_ = gen.Close()
		_ = lease.Close()
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
