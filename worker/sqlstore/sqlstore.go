package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures Open and New. The zero value is ready for use.
type Config struct {
	// Dialect is that of the database. Zero: the store asks the database.
	Dialect Dialect
	// Table is the table of the records, optionally with a schema and a dot before it. Two more
	// tables have this name with _space and _counter after it. Zero: "snow_worker". Without a schema
	// it is in PostgreSQL's schema public, whatever the search_path is, or in the database that the
	// MySQL connection has selected. Two databases of one server have separate namespaces.
	//
	// In PostgreSQL, Claim returns a *core.ConfigError if another schema of the database, which this
	// role may use, has tables of this name with the same namespace.
	Table string
	// NoCreate makes a missing table an error: you create the tables.
	NoCreate bool
	// AllowDataLoss accepts a database that may lose committed writes when its machine crashes.
	// Ids may then be issued twice after a crash.
	AllowDataLoss bool
	// Lease configures the generator of Open and its lease: the namespace, the layout, an
	// observer. New ignores it.
	Lease worker.Config
}

// A Store keeps the records of any number of namespaces. Make it with New; every method of a nil
// or zero Store returns a *core.ConfigError. It does not close the database. All methods are
// safe for concurrent use.
type Store struct {
	driver.Limiter

	db    *sql.DB
	cfg   Config
	calls hung.Calls

	waiting    waiting                   // for connections, and for answers
	inspecting chan struct{}             // holds an element while a call inspects the database
	inspected  atomic.Pointer[inspected] // what is known about the database; nil: nothing yet
	alone      sync.Map                  // the namespaces that are in no other schema
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError. It does not use the database: the first call
// inspects it.
func New(db *sql.DB, cfg Config) (*Store, error) {
	var wrong fields.Errors
	if db == nil {
		wrong.Add("db", nil, "must be an open *sql.DB")
	}
	if !slices.Contains([]Dialect{Detect, Postgres, MySQL, SQLite}, cfg.Dialect) {
		wrong.Add("Dialect", string(cfg.Dialect), "must be Detect, Postgres, MySQL or SQLite")
	}
	cfg.complete(&wrong)
	if err := wrong.Err("sqlstore"); err != nil {
		return nil, err
	}
	return &Store{db: db, cfg: cfg, inspecting: make(chan struct{}, 1)}, nil
}

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.db == nil {
		return fields.Error("sqlstore", "Store", nil, "must come from sqlstore.New")
	}
	return nil
}

// change is the call of a verb that changes one record. If it has not, the record is not held.
func (s *Store) change(ctx context.Context, what string, f func(session) (changed bool, err error)) error {
	_, err := call(ctx, s, what, leaseTables, func(x session) (changed bool, err error) {
		err = retrySwap(ctx, func() (bool, error) {
			changed, err = f(x)
			return true, err
		})
		switch {
		case err != nil:
			err = fmt.Errorf("sqlstore: %s: %w", what, err)
		case !changed:
			err = driver.ErrNotHeld
		}
		return changed, err
	})
	return err
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	c, err := call(ctx, s, fmt.Sprintf("claim in namespace %q", r.Namespace), leaseTables, func(x session) (c driver.Claim, err error) {
		var shuffle func(int, func(i, j int)) // after a race, to choose another worker ID than the winner
		err = retrySwap(ctx, func() (swapped bool, err error) {
			c, swapped, err = s.claimOnce(ctx, x, r, shuffle)
			shuffle = rand.Shuffle
			return swapped, err
		})
		return c, err
	})
	return c, markPermanent(err)
}

// claimOnce reads the namespace and tries one worker ID. It has not swapped if the record has
// changed since.
func (s *Store) claimOnce(ctx context.Context, x session, r driver.Request, shuffle func(int, func(i, j int))) (c driver.Claim, swapped bool, err error) {
	found, err := x.read(ctx, r.Namespace, shuffle != nil)
	if err != nil {
		return c, false, err
	}
	if err := r.CheckSkew(found.now); err != nil {
		return c, false, err
	}
	if found.layout.Valid && found.layout.String != r.Layout {
		return c, false, &driver.LayoutError{Namespace: r.Namespace, Have: found.layout.String, Want: r.Layout}
	}
	records := found.records
	if i := slices.IndexFunc(records, func(rec driver.Record) bool { return rec.ClaimID == r.ClaimID }); i >= 0 {
		return x.confirm(ctx, r, records[i])
	}
	free, err := driver.Candidates(r, records, found.now, shuffle)
	if err != nil {
		return c, false, err
	}
	isNew := !found.layout.Valid
	if x.cfg.Dialect == Postgres {
		if added, err := s.namespace(ctx, x, r, isNew); !added || err != nil {
			return c, false, err
		}
		isNew = false
	}
	old := free[0]
	_, c = r.Grant(old, found.now)
	args := []any{r.ClaimID, r.Owner, c.FencingToken, c.Fence, r.TTL, r.Namespace, c.Worker}
	// The compare-and-set: the row must be as it was read and still free, or must not exist.
	query := x.claim
	if known := slices.ContainsFunc(records, func(rec driver.Record) bool { return rec.Worker == c.Worker }); known {
		args = append(args, old.FencingToken, old.Fence)
	} else {
		query = x.first
	}
	err = x.commit(ctx, func() (err error) {
		if isNew { // unless another claim was the first, perhaps with another layout: then read again
			if swapped, err = x.change(ctx, x.addNamespace, r.Namespace, r.Layout); !swapped || err != nil {
				return err
			}
		}
		swapped, err = x.change(ctx, query, args...)
		return err
	})
	if err != nil {
		return c, false, fmt.Errorf("sqlstore: claim worker ID %d of namespace %q: %w", c.Worker, r.Namespace, err)
	}
	return c, swapped, nil
}

// confirm returns a claim whose first answer was lost. Reading its record is not enough: if the
// client gives up while its commit waits for a standby, the primary shows the row although no
// standby has it, and a promoted standby may lack it. So confirm writes to the row: a write is
// acknowledged only after everything that was committed before it.
func (x session) confirm(ctx context.Context, r driver.Request, rec driver.Record) (c driver.Claim, swapped bool, err error) {
	swapped, err = x.exec(ctx, x.statements.confirm, r.Namespace, rec.Worker, rec.FencingToken, r.ClaimID)
	if err != nil {
		return c, false, fmt.Errorf("sqlstore: confirm worker ID %d of namespace %q: %w", rec.Worker, r.Namespace, err)
	}
	return r.Replay(rec), swapped, nil
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	return s.change(ctx, fmt.Sprintf("renew worker ID %d of namespace %q", r.Worker, r.Namespace), func(x session) (bool, error) {
		if r.ClaimID == "" {
			return false, nil
		}
		changed, err := x.execKnown(ctx, x.renew, r.Fence, r.Fence, min(r.TTL, driver.NoTTL), r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
		if changed || err != nil {
			return changed, err
		}
		// MySQL counts rows that have changed, and within a millisecond none has.
		fence, err := x.queryInteger(ctx, x.held, r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return false, nil
		case err == nil && fence < r.Fence:
			err = fmt.Errorf("the fence is %d, and was not raised to %d", fence, r.Fence)
		}
		return true, err
	})
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return s.change(ctx, fmt.Sprintf("release worker ID %d of namespace %q", r.Worker, r.Namespace), func(x session) (bool, error) {
		if r.ClaimID == "" {
			return false, nil
		}
		return x.execKnown(ctx, x.release, r.Fence, r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
	})
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	if err := driver.CheckNamespace(namespace); err != nil {
		return err
	}
	return s.change(ctx, fmt.Sprintf("free worker ID %d of namespace %q", workerID, namespace), func(x session) (bool, error) {
		return x.execKnown(ctx, x.free, namespace, workerID, fencingToken)
	})
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) ([]driver.Record, error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return nil, err
	}
	return call(ctx, s, fmt.Sprintf("list namespace %q", namespace), leaseTables, func(x session) (records []driver.Record, err error) {
		err = retrySwap(ctx, func() (bool, error) {
			found, err := x.read(ctx, namespace, false)
			records = found.records
			return true, err
		})
		return records, err
	})
}

// Open returns a generator with a worker ID that it leases from the database: see [worker.Open],
// which says what is guaranteed, and which errors are returned.
//
// Open creates the tables if they are missing. If the role may not do that, the error ends with
// the statements to run. Every ten seconds the lease takes a connection of db for a moment. Close
// the generator before db; it does not close db.
func Open(ctx context.Context, db *sql.DB, cfg Config) (*worker.Generator, error) {
	store, err := New(db, cfg)
	if err != nil {
		return nil, err
	}
	return worker.Open(ctx, store, cfg.Lease)
}
