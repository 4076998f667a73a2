// Package memstore is a lease store in the memory of one process: for tests, and
// for programs whose generators all live in one process and end with it.
//
// It forgets everything when the process ends. Ids made before and after that are
// told apart by nothing but the clock: for what outlives the process take
// filestore or a database.
package memstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config is what a store is made of; the zero value is ready for use.
type Config struct {
	Now func() time.Time // the store's clock; nil: the system's
}

// Store keeps the numbers of any number of spaces. The zero value is what New makes of
// the zero Config.
type Store struct {
	now func() time.Time

	mu     sync.Mutex
	spaces map[string]*space
}

type space struct {
	layout string
	rows   map[int64]*driver.Record
}

var (
	_ driver.Store = (*Store)(nil)
	_ driver.Admin = (*Store)(nil)
)

// New makes an empty store.
func New(cfg Config) *Store {
	return &Store{now: cfg.Now}
}

// usable tells whether there is a store, and time to use it.
func (s *Store) usable(ctx context.Context) error {
	if s == nil {
		return fields.Error("memstore", "Store", nil, "must come from memstore.New")
	}
	return ctx.Err()
}

// clock is in Unix milliseconds.
func (s *Store) clock() int64 {
	if s.now == nil {
		return time.Now().UnixMilli()
	}
	return s.now().UnixMilli()
}

// Claim implements worker.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	if err := s.usable(ctx); err != nil {
		return driver.Claim{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spaces[r.Namespace]
	if sp != nil && sp.layout != r.Layout {
		return driver.Claim{}, &driver.LayoutError{Namespace: r.Namespace, Have: sp.layout, Want: r.Layout}
	}
	now := s.clock()
	if err := r.CheckSkew(now); err != nil {
		return driver.Claim{}, err
	}
	if sp == nil {
		sp = &space{layout: r.Layout, rows: make(map[int64]*driver.Record)}
		if s.spaces == nil {
			s.spaces = make(map[string]*space)
		}
		s.spaces[r.Namespace] = sp
	}
	rows := sp.list()
	if i := slices.IndexFunc(rows, func(row driver.Record) bool { return row.ClaimID == r.ClaimID }); i >= 0 {
		return r.Replay(rows[i]), nil
	}
	free, err := driver.Candidates(r, rows, now, nil)
	if err != nil {
		return driver.Claim{}, err
	}
	row := free[0]
	from, until := r.Interval(row.Fence)
	row.FencingToken, row.ClaimID, row.Owner, row.Fence, row.Expires = row.FencingToken+1, r.ClaimID, r.Owner, until, driver.Expiry(now, r.TTL)
	sp.rows[row.Worker] = &row
	return driver.Claim{Worker: row.Worker, FencingToken: row.FencingToken, From: from, Fence: until}, nil
}

// Renew implements worker.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.held(r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
	if row == nil {
		return driver.ErrNotHeld
	}
	row.Fence = max(row.Fence, r.Fence)
	row.Expires = driver.Expiry(s.clock(), r.TTL)
	return nil
}

// Release implements worker.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.held(r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
	if row == nil {
		return driver.ErrNotHeld
	}
	row.ClaimID, row.Fence, row.Expires = "", r.Fence, 0
	return nil
}

// held is the row if it has this epoch and token.
func (s *Store) held(name string, number, epoch int64, token string) *driver.Record {
	sp := s.spaces[name]
	if sp == nil || token == "" {
		return nil
	}
	row := sp.rows[number]
	if row == nil || row.FencingToken != epoch || row.ClaimID != token {
		return nil
	}
	return row
}

// List implements worker.Admin.
func (s *Store) List(ctx context.Context, name string) ([]driver.Record, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spaces[name]
	if sp == nil {
		return nil, nil
	}
	return sp.list(), nil
}

// list gives the rows by number.
func (sp *space) list() []driver.Record {
	rows := make([]driver.Record, 0, len(sp.rows))
	for _, row := range sp.rows {
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b driver.Record) int { return int(a.Worker - b.Worker) })
	return rows
}

// Free implements worker.Admin.
func (s *Store) Free(ctx context.Context, name string, number, epoch int64) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spaces[name]
	if sp == nil || sp.rows[number] == nil || sp.rows[number].FencingToken != epoch || sp.rows[number].ClaimID == "" {
		return driver.ErrNotHeld
	}
	sp.rows[number].ClaimID, sp.rows[number].Expires = "", 0
	return nil
}
