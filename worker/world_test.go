package worker_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// flaky is a store that does what a test wants, and remembers what it was asked.
type flaky struct {
	driver.Store
	mu       sync.Mutex
	down     error         // every request fails with it
	slow     time.Duration // and takes so long
	claims   []driver.Request
	renewals []time.Time
	lose     int                                                             // so many claims are carried out, and their answers lost
	after    func(driver.Request, driver.Claim, error) (driver.Claim, error) // changes a claim's answer
}

func (f *flaky) fail(ctx context.Context) error {
	f.mu.Lock()
	down, slow := f.down, f.slow
	f.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return down
}

func (f *flaky) set(change func(*flaky)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *flaky) tries() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.renewals)
}

func (f *flaky) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	f.set(func(f *flaky) { f.claims = append(f.claims, r) })
	if err := f.fail(ctx); err != nil {
		return driver.Claim{}, err
	}
	c, err := f.Store.Claim(ctx, r)
	f.mu.Lock()
	lost, after := f.lose > 0, f.after
	f.lose--
	f.mu.Unlock()
	if lost {
		return driver.Claim{}, errNetwork
	}
	if after != nil {
		return after(r, c, err)
	}
	return c, err
}

func (f *flaky) Renew(ctx context.Context, r driver.Renewal) error {
	f.set(func(f *flaky) { f.renewals = append(f.renewals, time.Now()) })
	if err := f.fail(ctx); err != nil {
		return err
	}
	return f.Store.Renew(ctx, r)
}

func (f *flaky) Release(ctx context.Context, r driver.Return) error {
	if err := f.fail(ctx); err != nil {
		return err
	}
	return f.Store.Release(ctx, r)
}

// via is a store whose requests go through a function.
type via struct {
	driver.Store
	with func(ctx context.Context, request func(context.Context) error) error
}

func (v via) Claim(ctx context.Context, r driver.Request) (c driver.Claim, err error) {
	err = v.with(ctx, func(ctx context.Context) (err error) { c, err = v.Store.Claim(ctx, r); return err })
	return c, err
}

func (v via) Renew(ctx context.Context, r driver.Renewal) error {
	return v.with(ctx, func(ctx context.Context) error { return v.Store.Renew(ctx, r) })
}

func (v via) Release(ctx context.Context, r driver.Return) error {
	return v.with(ctx, func(ctx context.Context) error { return v.Store.Release(ctx, r) })
}

// events keeps what an observer receives.
type events struct {
	mu   sync.Mutex
	list []core.Event
}

func (e *events) Observe(ev core.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ev)
}

func (e *events) all() []core.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}

func (e *events) count(kind core.EventKind) (n int) {
	for _, ev := range e.all() {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// observers notifies several.
type observers []core.Observer

func (o observers) Observe(e core.Event) {
	for _, each := range o {
		each.Observe(e)
	}
}

// ref returns a pointer to a value.
func ref[T any](v T) *T { return &v }

// world is a bubble with a store in it.
type world struct {
	*testing.T
	mem               *memstore.Store
	store             *flaky
	ahead, storeAhead atomic.Int64 // of the clocks, in nanoseconds
	cfg               worker.Config
	seen              events
	ids               map[int64]bool
	last              core.Parts
}

var testLayout = core.Layout{Epoch: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), TimeBits: 41, WorkerBits: 2, SequenceBits: 4}

func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		drains(t)
		w := &world{T: t, ids: map[int64]bool{}}
		w.mem = memstore.New(memstore.Config{Now: func() time.Time { return time.Now().Add(time.Duration(w.storeAhead.Load())) }})
		w.store = &flaky{Store: w.mem}
		w.cfg = worker.Config{Layout: testLayout, Now: w.now, Observer: &w.seen}
		f(w)
	})
}

// drains lets the leases of a bubble end what they have begun, as when a release is on its
// way while the test is over: nothing may be left behind.
func drains(t *testing.T) { t.Cleanup(func() { time.Sleep(24 * time.Hour) }) }

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

func (w *world) acquire(change func(*worker.Config)) *worker.Lease {
	w.Helper()
	cfg := w.cfg
	if change != nil {
		change(&cfg)
	}
	return w.acquireFrom(w.store, cfg)
}

func (w *world) acquireFrom(s driver.Store, cfg worker.Config) *worker.Lease {
	w.Helper()
	lease, err := w.keep(worker.Acquire(w.Context(), s, cfg))
	if err != nil {
		w.Fatal(err)
	}
	return lease
}

// keep ends the lease with the test, wherever that fails: a bubble lasts for ever
// while something in it has a timer.
func (w *world) keep(lease *worker.Lease, err error) (*worker.Lease, error) {
	if err == nil {
		w.Cleanup(func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = lease.Release(ctx)
		})
	}
	return lease, err
}

func (w *world) generator(lease *worker.Lease, back core.ClockPolicy) *core.Generator {
	w.Helper()
	return w.newGenerator(core.Config{Worker: lease, Now: w.now, ClockPolicy: back})
}

func (w *world) newGenerator(cfg core.Config) *core.Generator {
	w.Helper()
	gen, err := core.New(cfg)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(gen.Close)
	return gen
}

// issued fails on an id that is there twice.
func (w *world) issued(id int64) {
	w.Helper()
	if w.ids[id] {
		p, _ := testLayout.Decode(id)
		w.Fatalf("%+v was issued twice", p)
	}
	w.ids[id] = true
}

// draw takes one id and looks at it: new, and below what the store has recorded.
func (w *world) draw(gen *core.Generator) (core.Parts, error) {
	w.Helper()
	id, err := gen.Next(w.Context())
	if err != nil {
		return core.Parts{}, err
	}
	p, err := testLayout.Decode(id)
	if err != nil {
		w.Fatal(err)
	}
	w.issued(id)
	if fence := w.fence(p.Worker); !p.Time.Before(fence) {
		w.Fatalf("an id of %v, and the store's fence for worker ID %d is %v", p.Time, p.Worker, fence)
	}
	w.last = p
	return p, nil
}

func (w *world) mustDraw(gen *core.Generator) core.Parts {
	w.Helper()
	p, err := w.draw(gen)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func (w *world) record(id int64) driver.Record {
	w.Helper()
	records, err := w.mem.List(w.Context(), "default")
	if err != nil {
		w.Fatal(err)
	}
	i := slices.IndexFunc(records, func(r driver.Record) bool { return r.Worker == id })
	if i < 0 {
		w.Fatalf("worker ID %d has no record", id)
	}
	return records[i]
}

func (w *world) fence(id int64) time.Time { return time.UnixMilli(w.record(id).Fence) }

// steal gives the worker ID to another holder.
func (w *world) steal(id int64) driver.Claim {
	w.Helper()
	if err := w.mem.Free(w.Context(), "default", id, w.record(id).FencingToken); err != nil {
		w.Fatal(err)
	}
	return w.claimAs("thief", id, 3_600_000)
}

func (w *world) claimAs(claimID string, id, ttl int64) driver.Claim {
	w.Helper()
	c, err := w.mem.Claim(w.Context(), driver.Request{
		Namespace: "default", Layout: driver.Fingerprint(testLayout), WorkerIDs: 4, Preferred: id, RequirePreferred: true, Exclude: -1,
		ClaimID: claimID, Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: ttl, MaxSkew: 1 << 40, MaxLead: 1 << 40,
	})
	if err != nil {
		w.Fatal(err)
	}
	return c
}
