// Package memstore keeps leases of worker IDs in the memory of one process, for tests and for
// programs whose generators all live in one process:
//
//	store := memstore.New(memstore.Config{})
//	gen, err := worker.Open(ctx, store, worker.Config{Namespace: "orders"})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	id, err := gen.Next(ctx)
//
// The ids of all generators that share a store and a namespace differ.
//
// A store forgets everything when its process ends. Between the ids before and after that,
// there is only the clock. If ids outlive the process, use a database, such as SQLite.
package memstore

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures a Store. The zero value is ready for use.
type Config struct {
	// Now is the store's clock. Nil means time.Now.
	Now func() time.Time
}

// A Store keeps the records of any number of namespaces. The zero value is ready for use, and
// the same as what New makes of the zero Config. All methods are safe for concurrent use.
type Store struct {
	now func() time.Time

	mu         sync.Mutex
	namespaces map[string]*namespace
}

type namespace struct {
	driver.Namespace

	records map[int64]driver.Record
}

var (
	_ driver.Store = (*Store)(nil)
	_ driver.Admin = (*Store)(nil)
)

// New returns an empty store.
func New(cfg Config) *Store {
	return &Store{now: cfg.Now}
}

// lock begins each call. If it returns no error, the caller unlocks s.mu.
func (s *Store) lock(ctx context.Context) error {
	if s == nil {
		return fields.Error("memstore", "Store", nil, "must come from memstore.New")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	return nil
}

// clock returns the time in Unix milliseconds.
func (s *Store) clock() int64 {
	if s.now == nil {
		return time.Now().UnixMilli()
	}
	return s.now().UnixMilli()
}

// transact does what decide says; see driver.Transact. The mutex makes it one atomic step.
func (s *Store) transact(ctx context.Context, name string, workerIDs int64, decide func(driver.State) (driver.Change, error)) (driver.Lease, error) {
	if err := s.lock(ctx); err != nil {
		return driver.Lease{}, err
	}
	defer s.mu.Unlock()
	read := func(context.Context) (driver.State, error) { return s.state(name), nil }
	return driver.Transact(ctx, decide, read, func(_ context.Context, _ driver.State, ch driver.Change) (bool, error) {
		if s.namespaces == nil {
			s.namespaces = make(map[string]*namespace)
		}
		ns := s.namespaces[name]
		if ns == nil {
			ns = &namespace{records: make(map[int64]driver.Record)}
			s.namespaces[name] = ns
		}
		switch {
		case ch.Namespace != nil:
			ns.Namespace = *ch.Namespace
		case ch.Make != nil:
			ns.make(*ch.Make, workerIDs)
		default:
			ns.records[ch.Record.Worker] = *ch.Record
		}
		return true, nil
	})
}

// incarnation is constant: the store ends with its process.
const incarnation = "memory"

// state returns what the store has of a namespace.
func (s *Store) state(name string) driver.State {
	st := driver.State{Now: s.clock(), Server: incarnation, Namespace: driver.Namespace{Name: name}, Missing: true, New: true}
	if ns := s.namespaces[name]; ns != nil {
		st.Count, st.Records = int64(len(ns.records)), slices.Collect(maps.Values(ns.records))
		if ns.Version > 0 {
			st.Namespace, st.Missing, st.New = ns.Namespace, false, false
		}
	}
	return st
}

// make makes unused records, and counts them; see driver.Change.
func (ns *namespace) make(worker, workerIDs int64) {
	first, end, most := worker, worker+1, int64(1)
	if worker == driver.Any {
		first, end, most = 0, workerIDs, driver.MakeAtOnce
	}
	for id := first; id < end && most > 0; id++ {
		if _, ok := ns.records[id]; !ok {
			ns.records[id] = driver.Record{Worker: id, Status: driver.Unused}
			ns.Seen++
			most--
		}
	}
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	return s.transact(ctx, c.Namespace, c.WorkerIDs, c.Decide)
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	return s.transact(ctx, r.Namespace, 0, r.Decide)
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Release) error {
	return s.change(ctx, r.Namespace, r.Worker, r.Decide)
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, worker, fencingToken int64) error {
	return s.change(ctx, namespace, worker, func(rec driver.Record) (driver.Record, error) { return rec.Free(fencingToken) })
}

// change changes one record.
func (s *Store) change(ctx context.Context, name string, worker int64, decide func(driver.Record) (driver.Record, error)) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	ns := s.namespaces[name]
	if ns == nil {
		return driver.ErrNotHeld
	}
	rec, err := decide(ns.records[worker])
	if err == nil {
		ns.records[worker] = rec
	}
	return err
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) (driver.State, error) {
	if err := s.lock(ctx); err != nil {
		return driver.State{}, err
	}
	defer s.mu.Unlock()
	return s.state(namespace).Listed(), nil
}

// Raise implements driver.Admin.
func (s *Store) Raise(ctx context.Context, namespace string, fenceWindow int64) (driver.Namespace, error) {
	if err := s.lock(ctx); err != nil {
		return driver.Namespace{}, err
	}
	defer s.mu.Unlock()
	ch, err := s.state(namespace).Raise(fenceWindow)
	if err != nil {
		return driver.Namespace{}, err
	}
	s.namespaces[namespace].Namespace = *ch.Namespace
	return *ch.Namespace, nil
}
