package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// OpenConfig configures Open. The zero value is ready for use: the namespace "default" in the
// tables "snow_worker" and "snow_worker_space", and Twitter's layout.
type OpenConfig struct {
	Store Config        // the tables; zero: see Config
	Lease worker.Config // the namespace, the layout, an observer; zero: see worker.Config
	// Generator configures the generator, such as its policy when the clock goes back. Worker
	// must be nil, since Open sets it. Layout and Now may be set here or in Lease.
	Generator core.Config
	// CloseDB also closes db, after Close has released the worker ID or when Open fails.
	// Set it for a pool that only the lease uses.
	CloseDB bool
}

// A Generator is a core.Generator together with the lease of its worker ID. Make it with Open;
// the zero value returns core.ErrClosed. All methods are safe for concurrent use.
type Generator struct {
	gen   *core.Generator
	lease *worker.Lease
	db    *sql.DB // closed by Close; nil: none
}

// Open leases a worker ID from the database and makes a generator that uses it. The ids of all
// generators in one namespace differ, on all machines. worker.Acquire says what this
// depends on. If Open fails, nothing stays leased.
//
// The context only affects Open; the lease lasts until Close. Every ten seconds it takes a
// connection of db for a moment. Close the generator before db.
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
		return nil, fields.Error("sqlstore", "Generator.Worker", plain("set"), "must be nil: Open leases the worker ID")
	}
	if cfg.Lease.Layout == (core.Layout{}) {
		cfg.Lease.Layout = cfg.Generator.Layout
	}
	if cfg.Lease.Now == nil {
		cfg.Lease.Now = cfg.Generator.Now
	} else if cfg.Generator.Now == nil {
		cfg.Generator.Now = cfg.Lease.Now
	}
	store, err := New(db, cfg.Store)
	if err != nil {
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

// Generator returns the generator alone, for its layout and Stats. It is nil for the zero value.
func (g *Generator) Generator() *core.Generator { return g.gen }

// Lease returns the lease, for its worker ID, Stats and Done. It is nil for the zero value.
func (g *Generator) Lease() *worker.Lease { return g.lease }

// Failing returns nil unless something fails. While renewals fail, it returns a
// *worker.RetryError that says why and since when. Ids continue for a while: Lease().Stats()
// says for how long. After the lease has ended, Failing returns the reason, after Close
// worker.ErrReleased.
func (g *Generator) Failing() error {
	if g == nil || g.lease == nil {
		return core.ErrClosed
	}
	if err := g.lease.Err(); err != nil {
		return err
	}
	return g.lease.Stats().Failing
}

// Close ends the generator and then releases the worker ID, so that another process may lease
// it at once. The context limits the wait for the database. During a shutdown, pass a
// context that is not done yet. If the context has no end, Close waits for at most
// Lease.MaxWait.
//
// After Close no more ids are issued, even if it returns an error. The error means that the
// worker ID was not released: others can claim it after Lease.TTL. Close may be called again.
// After a successful Close, it returns nil.
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
