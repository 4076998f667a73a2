// Package pgxstore leases worker IDs from PostgreSQL over a pool of pgx:
//
//	gen, err := pgxstore.Open(ctx, pool, worker.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//
// It uses package sqlstore over the pool, with the same tables. So programs with pgx and
// programs with database/sql may share a namespace.
package pgxstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Open is sqlstore.Open over a pool of pgx. Every ten seconds, the lease takes a connection of
// the pool for a moment, and waits for it like the rest of the program. To avoid that, pass
// Open a second pool. Close the generator before the pool; it does not close the pool.
//
// For tables with other names, call [worker.Open] with a store of sqlstore.New over the *sql.DB that
// stdlib.OpenDBFromPool of pgx returns. Then close that *sql.DB after the generator.
func Open(ctx context.Context, pool *pgxpool.Pool, cfg worker.Config) (*worker.Generator, error) {
	if pool == nil {
		return nil, fields.Error("pgxstore", "pool", nil, "must be an open *pgxpool.Pool")
	}
	db := stdlib.OpenDBFromPool(pool)
	s, err := sqlstore.New(db, sqlstore.Config{Dialect: ddl.Postgres})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return worker.Open(ctx, store{s, db, pool}, cfg)
}

// store has a handle that is closed with the generator, not the pool under it.
type store struct {
	*sqlstore.Store
	db   *sql.DB
	pool *pgxpool.Pool
}

// CloseWithGenerator closes the handle: see driver.OwnedStore.
func (s store) CloseWithGenerator() error { return s.db.Close() }

// Claim implements driver.Store.
func (s store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	l, err := s.Store.Claim(ctx, c)
	return l, s.explained(ctx, err)
}

// Renew implements driver.Store.
func (s store) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	l, err := s.Store.Renew(ctx, r)
	return l, s.explained(ctx, err)
}

// explained adds the cause to the error of a request that has waited for the pool in vain: the handle
// has no limit, and so does not know.
func (s store) explained(ctx context.Context, err error) error {
	if st := s.pool.Stat(); err != nil && ctx.Err() != nil && st.AcquiredConns() >= st.MaxConns() {
		return fmt.Errorf("pgxstore: all connections of the pool are in use (%d of %d): give the lease its own pool, or raise MaxConns: %w", st.AcquiredConns(), st.MaxConns(), err)
	}
	return err
}
