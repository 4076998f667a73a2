package worker_test

import (
	"cmp"
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

// flaky is a store that fails as a test wants, and remembers its requests.
type flaky struct {
	driver.Store
	mu       sync.Mutex
	down     error         // every request fails with it
	slow     time.Duration // and takes this long
	locked   *int64        // another transaction keeps the record of this worker ID locked
	claims   []driver.Claim
	renewals []time.Time
	lose     int                                                           // so many claims are carried out, and their answers lost
	after    func(driver.Claim, driver.Lease, error) (driver.Lease, error) // changes a claim's answer
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

func (f *flaky) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	f.set(func(f *flaky) { f.claims = append(f.claims, c) })
	if err := f.fail(ctx); err != nil {
		return driver.Lease{}, err
	}
	got, err := f.Store.Claim(ctx, c)
	f.mu.Lock()
	lost, after := f.lose > 0, f.after
	f.lose--
	f.mu.Unlock()
	if lost {
		return driver.Lease{}, errNetwork
	}
	if after != nil {
		return after(c, got, err)
	}
	return got, err
}

func (f *flaky) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	f.set(func(f *flaky) { f.renewals = append(f.renewals, time.Now()) })
	if err := cmp.Or(f.fail(ctx), f.lock(r.Worker)); err != nil {
		return driver.Lease{}, err
	}
	return f.Store.Renew(ctx, r)
}

func (f *flaky) Release(ctx context.Context, r driver.Release) error {
	if err := cmp.Or(f.fail(ctx), f.lock(r.Worker)); err != nil {
		return err
	}
	return f.Store.Release(ctx, r)
}

func (f *flaky) lock(id int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.locked != nil && *f.locked == id {
		return driver.ErrLocked
	}
	return nil
}

// via is a store whose requests go through a function.
type via struct {
	driver.Store
	with func(ctx context.Context, request func(context.Context) error) error
}

func (v via) Claim(ctx context.Context, c driver.Claim) (got driver.Lease, err error) {
	err = v.with(ctx, func(ctx context.Context) (err error) { got, err = v.Store.Claim(ctx, c); return err })
	return got, err
}

func (v via) Renew(ctx context.Context, r driver.Renewal) (got driver.Lease, err error) {
	err = v.with(ctx, func(ctx context.Context) (err error) { got, err = v.Store.Renew(ctx, r); return err })
	return got, err
}

func (v via) Release(ctx context.Context, r driver.Release) error {
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

// observers notifies several observers.
type observers []core.Observer

func (o observers) Observe(e core.Event) {
	for _, each := range o {
		each.Observe(e)
	}
}

// ref returns a pointer to a value.
func ref[T any](v T) *T { return &v }

type admin interface {
	driver.Store
	driver.Admin
}

// world is a bubble with a store in it.
type world struct {
	*testing.T
	mem               admin
	forgetful         bool // mem has lost fences
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
		w.mem = memstore.New(memstore.Config{Now: w.storeNow})
		w.store = &flaky{Store: w.mem}
		w.cfg = worker.Config{Layout: testLayout, Now: w.now, Observer: &w.seen}
		f(w)
	})
}

// drains lets the leases of a bubble end what they have begun, as when a release is on its
// way while the test is over: nothing may be left behind.
func drains(t *testing.T) { t.Cleanup(func() { time.Sleep(24 * time.Hour) }) }

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

func (w *world) storeNow() time.Time { return time.Now().Add(time.Duration(w.storeAhead.Load())) }

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

// keep ends the lease with the test, wherever the test fails: a bubble does not end while something in
// it has a timer.
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
	if !w.forgetful && !p.Time.Before(w.fence(p.Worker)) {
		w.Fatalf("an id of %v, and the store's fence for worker ID %d is %v", p.Time, p.Worker, w.fence(p.Worker))
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

func (w *world) list() driver.State {
	w.Helper()
	st, err := w.mem.List(w.Context(), "default")
	if err != nil {
		w.Fatal(err)
	}
	return st
}

func (w *world) record(id int64) driver.Record {
	w.Helper()
	for _, rec := range w.list().Records {
		if rec.Worker == id {
			return rec
		}
	}
	w.Fatalf("worker ID %d has no record", id)
	return driver.Record{}
}

func (w *world) fence(id int64) time.Time { return time.UnixMilli(w.record(id).Fence) }

// held counts the worker IDs that are held, except the thief's.
func (w *world) held() (n int) {
	w.Helper()
	for _, rec := range w.list().Records {
		if rec.ClaimID != "thief" && (rec.Status == driver.Held || rec.Status == driver.Kept) {
			n++
		}
	}
	return n
}

func (w *world) free(id int64) {
	w.Helper()
	if err := w.mem.Free(w.Context(), "default", id, w.record(id).FencingToken); err != nil {
		w.Fatal(err)
	}
}

// steal gives the worker ID to another holder, which keeps it, as if its fence had passed. It
// returns that fence.
func (w *world) steal(id int64) (fence time.Time) {
	w.Helper()
	st, fence := w.list(), w.fence(id)
	w.free(id)
	passes := int64(fence.Sub(w.storeNow())) + (st.Namespace.MaxSkew+1)*int64(time.Millisecond)
	w.storeAhead.Add(passes)
	w.claimAs("thief", id)
	w.storeAhead.Add(-passes)
	return fence
}

// claimAs claims a worker ID that never expires.
func (w *world) claimAs(claimID string, id int64) {
	w.Helper()
	window := cmp.Or(w.list().Namespace.FenceWindow, 30_000)
	got, err := w.mem.Claim(w.Context(), driver.Claim{
		Namespace: "default", Layout: driver.Fingerprint(testLayout), WorkerIDs: 4, Preferred: id, RequirePreferred: true, Exclude: -1,
		ClaimID: claimID, Now: w.storeNow().UnixMilli(), FenceWindow: window,
	})
	if err == nil {
		_, err = w.mem.Renew(w.Context(), driver.Renewal{Namespace: "default", Worker: id, ClaimID: claimID, FencingToken: got.FencingToken, FenceWindow: window, Keep: true})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// leave releases what claimAs has claimed, from its fence on.
func (w *world) leave(id int64) {
	w.Helper()
	rec := w.record(id)
	if err := w.mem.Release(w.Context(), driver.Release{Namespace: "default", Worker: id, ClaimID: rec.ClaimID, FencingToken: rec.FencingToken, Unused: rec.Start}); err != nil {
		w.Fatal(err)
	}
}
