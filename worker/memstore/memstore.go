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
	"cmp"
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

// A Store keeps the records of any number of namespaces. The zero value is ready for use, and
// the same as what New makes of the zero Config. All methods are safe for concurrent use.
type Store struct {
	now func() time.Time

	mu         sync.Mutex
	namespaces map[string]*namespace
}

type namespace struct {
	layout  string
	records map[int64]*driver.Record
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

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	if err := s.lock(ctx); err != nil {
		return driver.Claim{}, err
	}
	defer s.mu.Unlock()
	ns := s.namespaces[r.Namespace]
	if ns != nil && ns.layout != r.Layout {
		return driver.Claim{}, &driver.LayoutError{Namespace: r.Namespace, Have: ns.layout, Want: r.Layout}
	}
	now := s.clock()
	if err := r.CheckSkew(now); err != nil {
		return driver.Claim{}, err
	}
	if ns == nil {
		ns = &namespace{layout: r.Layout, records: make(map[int64]*driver.Record)}
		if s.namespaces == nil {
			s.namespaces = make(map[string]*namespace)
		}
		s.namespaces[r.Namespace] = ns
	}
	records := ns.list()
	if i := slices.IndexFunc(records, func(rec driver.Record) bool { return rec.ClaimID == r.ClaimID }); i >= 0 {
		return r.Replay(records[i]), nil
	}
	free, err := driver.Candidates(r, records, now, nil)
	if err != nil {
		return driver.Claim{}, err
	}
	rec, c := r.Grant(free[0], now)
	ns.records[rec.Worker] = &rec
	return c, nil
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	return s.change(ctx, r.Namespace, r.Worker, func(rec *driver.Record) bool { return r.Apply(rec, s.clock()) })
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return s.change(ctx, r.Namespace, r.Worker, r.Apply)
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	return s.change(ctx, namespace, workerID, func(rec *driver.Record) bool { return rec.Evict(fencingToken) })
}

// change applies a change to a record, if it is there and the change is allowed.
func (s *Store) change(ctx context.Context, namespace string, workerID int64, apply func(*driver.Record) bool) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if ns := s.namespaces[namespace]; ns == nil || ns.records[workerID] == nil || !apply(ns.records[workerID]) {
		return driver.ErrNotHeld
	}
	return nil
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) ([]driver.Record, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.namespaces[namespace].list(), nil
}

// list returns the records by worker ID.
func (ns *namespace) list() []driver.Record {
	if ns == nil {
		return nil
	}
	records := make([]driver.Record, 0, len(ns.records))
	for _, rec := range ns.records {
		records = append(records, *rec)
	}
	slices.SortFunc(records, func(a, b driver.Record) int { return cmp.Compare(a.Worker, b.Worker) })
	return records
}
