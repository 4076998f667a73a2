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
// A store forgets everything when its process ends. After that, only the clock keeps new ids apart
// from old ones. If ids outlive the process, use a database such as SQLite.
package memstore

import (
	"context"
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

// A Store keeps the records of any number of namespaces. The zero value is ready for use, like a
// Store that New makes from the zero Config. All methods are safe for concurrent use.
type Store struct {
	now func() time.Time

	mu     sync.Mutex
	states map[string]driver.State // Now, Server and Count are not used
}

var (
	_ driver.Store = (*Store)(nil)
	_ driver.Admin = (*Store)(nil)
)

// New returns an empty store.
func New(cfg Config) *Store {
	return &Store{now: cfg.Now}
}

// lock begins each call. If it returns no error, the caller must unlock s.mu.
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

// incarnation is constant: the store ends with its process.
const incarnation = "memory"

// state returns a namespace, with a copy of its records. The caller holds s.mu.
func (s *Store) state(name string) driver.State {
	st, ok := s.states[name]
	if !ok {
		st = driver.State{Namespace: driver.Namespace{Name: name}, Missing: true, New: true}
	}
	now := time.Now
	if s.now != nil {
		now = s.now
	}
	st.Now, st.Server, st.Count, st.Records = now().UnixMilli(), incarnation, int64(len(st.Records)), slices.Clone(st.Records)
	return st
}

// Put replaces a namespace and its records. With it, a test puts the store back to an earlier result
// of List, perhaps with another incarnation, as after a failover.
func (s *Store) Put(st driver.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Records = slices.Clone(st.Records)
	s.put(st.Namespace.Name, st)
}

func (s *Store) put(name string, st driver.State) {
	if s.states == nil {
		s.states = make(map[string]driver.State)
	}
	if st.Missing {
		st.Namespace = driver.Namespace{Name: name}
	}
	s.states[name] = st
}

// transact makes the change that decide returns; see driver.Transact. The mutex makes it one atomic step.
func (s *Store) transact(ctx context.Context, name string, workerIDs int64, decide func(driver.State) (driver.Change, error)) (driver.Lease, error) {
	if err := s.lock(ctx); err != nil {
		return driver.Lease{}, err
	}
	defer s.mu.Unlock()
	read := func(context.Context, bool) (driver.State, error) { return s.state(name), nil }
	return driver.Transact(ctx, decide, read, func(_ context.Context, _ driver.State, ch driver.Change) (bool, error) {
		st := s.state(name)
		switch {
		case ch.Namespace != nil:
			st.Namespace, st.Missing, st.New = *ch.Namespace, false, false
		case ch.Make != nil:
			makeRecords(&st, *ch.Make, workerIDs)
		default:
			*record(st, ch.Record.Worker) = *ch.Record
		}
		s.put(name, st)
		return true, nil
	})
}

// record returns the record of a worker ID, or nil.
func record(st driver.State, worker int64) *driver.Record {
	for i := range st.Records {
		if st.Records[i].Worker == worker {
			return &st.Records[i]
		}
	}
	return nil
}

// makeRecords makes unused records, and counts them; see driver.Change.
func makeRecords(st *driver.State, worker, workerIDs int64) {
	first, end, most := worker, worker+1, 1
	if worker == driver.MakeAny {
		first, end, most = 0, workerIDs, driver.MakeAtOnce
	}
	known := make(map[int64]bool)
	for _, rec := range st.Records {
		known[rec.Worker] = true
	}
	for id := first; id < end && most > 0; id++ {
		if !known[id] {
			st.Records = append(st.Records, driver.Record{Worker: id, Status: driver.Unused})
			st.Namespace.Seen++
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
	st := s.state(name)
	rec := record(st, worker)
	if rec == nil {
		return driver.ErrNotHeld
	}
	changed, err := decide(*rec)
	if err != nil {
		return err
	}
	*rec = changed
	s.put(name, st)
	return nil
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
	st := s.state(namespace)
	ch, err := st.Raise(fenceWindow)
	if err != nil {
		return driver.Namespace{}, err
	}
	st.Namespace = *ch.Namespace
	s.put(namespace, st)
	return st.Namespace, nil
}
