package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// OpenConfig configures Open. The zero value is ready for use: the namespace "default" in the
// tables "snow_worker" and "snow_worker_space", and Twitter's layout.
type OpenConfig struct {
	Store Config        // the tables; zero: see Config
	Lease worker.Config // the namespace (Space), the layout, a logger; zero: see worker.Config
	// Generator is what the generator does when the clock goes back, and the like. Worker must be
	// nil, since Open gives it one. Layout and Now may be set here or in Lease.
	Generator core.Config
	// CloseDB closes the database too, when Close has released the worker ID and when Open fails.
	// Set it for a pool that only the lease uses.
	CloseDB bool
}

// A Generator is a core.Generator together with the lease of its worker ID. Make it with Open:
// the zero value returns core.ErrClosed. All methods may be called from any goroutine.
type Generator struct {
	gen   *core.Generator
	lease *worker.Lease
	db    *sql.DB // to be closed; nil: none
}

// Open leases a worker ID from the database and makes a generator under it. The ids of all
// generators that are open in one namespace differ, on whatever machines; see worker.Acquire
// for what that rests on. If Open fails, nothing stays leased.
//
// The context only affects Open; the lease is kept until Close. It takes one connection of
// db for a moment, every ten seconds. Close the generator before db.
//
// Open creates the tables if they are missing. If the role may not do that, the error ends with
// the statements to run. The errors are those of worker.Acquire and core.New.
func Open(ctx context.Context, db *sql.DB, cfg OpenConfig) (*Generator, error) {
	g, err := cfg.open(ctx, db)
	if err != nil && cfg.CloseDB && db != nil {
		err = errors.Join(err, db.Close())
	}
	return g, err
}

func (cfg OpenConfig) open(ctx context.Context, db *sql.DB) (*Generator, error) {
	if cfg.Generator.Worker != nil {
		return nil, &worker.ConfigError{Faults: []core.Fault{{Field: "Generator.Worker", Value: "set", Reason: "must be nil: Open leases the worker ID"}}}
	}
	if cfg.Lease.Layout == (core.Layout{}) {
		cfg.Lease.Layout = cfg.Generator.Layout
	}
	if cfg.Lease.Now == nil {
		cfg.Lease.Now = cfg.Generator.Now
	} else if cfg.Generator.Now == nil {
		cfg.Generator.Now = cfg.Lease.Now
	}
	store := New(db, cfg.Store)
	if err := store.check(); err != nil {
		return nil, err
	}
	lease, err := worker.Acquire(ctx, store, cfg.Lease)
	if err != nil {
		return nil, err
	}
	cfg.Generator.Worker = lease
	gen, err := core.New(cfg.Generator)
	if err != nil {
		return nil, errors.Join(err, lease.Close())
	}
	g := &Generator{gen: gen, lease: lease}
	if cfg.CloseDB {
		g.db = db
	}
	return g, nil
}

// Next issues one id; see core.Generator.Next.
func (g *Generator) Next(ctx context.Context) (int64, error) {
	if g == nil || g.gen == nil {
		return 0, core.ErrClosed
	}
	return g.gen.Next(ctx)
}

// Fill issues len(ids) ids, all or none; see core.Generator.Fill.
func (g *Generator) Fill(ctx context.Context, ids []int64) error {
	if g == nil || g.gen == nil {
		return core.ErrClosed
	}
	return g.gen.Fill(ctx, ids)
}

// Generator is the generator alone: its layout and its Stats. It is nil for the zero value.
func (g *Generator) Generator() *core.Generator { return g.gen }

// Lease is the lease: its worker ID, its Stats, and Done. It is nil for the zero value.
func (g *Generator) Lease() *worker.Lease { return g.lease }

// Failing is nil while all is well. Otherwise it says what fails and since when, a
// *worker.RetryError, though ids may continue for a while yet: Lease().Stats() tells how long.
// When the lease has ended it says why: after Close, worker.ErrReleased.
func (g *Generator) Failing() error {
	if g == nil || g.lease == nil {
		return core.ErrClosed
	}
	if err := g.lease.Err(); err != nil {
		return err
	}
	return g.lease.Stats().Failing
}

// Close ends the generator, and then gives the worker ID back, so that another process may have
// it at once. The context bounds the wait for the database; a service that is ending needs
// one that is not done. Without a context that ends, Close waits for at most Lease.MaxWait.
//
// Whatever the error, no more ids are issued. It says that the worker ID was not given back:
// the ID comes free by itself after Lease.TTL, and Close may be called again. Closed twice, it
// returns nil.
func (g *Generator) Close(ctx context.Context) error {
	if g == nil || g.gen == nil {
		return nil
	}
	_ = g.gen.Close() // it never fails
	if err := g.lease.Release(ctx); err != nil {
		return err
	}
	if g.db != nil {
		return g.db.Close()
	}
	return nil
}
