// Package pgxstore leases worker IDs from PostgreSQL over a pool of pgx:
//
//	gen, err := pgxstore.Open(ctx, pool, sqlstore.OpenConfig{})
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

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Open is sqlstore.Open over a pool of pgx. Every ten seconds, the lease takes a connection of
// the pool for a moment, and waits for it like the rest of the program. To avoid that, pass
// Open a second pool. Close the generator before the pool; it does not close the pool.
//
// Store.Dialect must be zero or Postgres. CloseDB has no effect.
func Open(ctx context.Context, pool *pgxpool.Pool, cfg sqlstore.OpenConfig) (*sqlstore.Generator, error) {
	var wrong fields.Errors
	if pool == nil {
		wrong.Add("pool", nil, "must be an open *pgxpool.Pool")
	}
	if d := cfg.Store.Dialect; d != sqlstore.Detect && d != sqlstore.Postgres {
		wrong.Add("Store.Dialect", d, "must be zero or Postgres")
	}
	if err := wrong.Err("pgxstore"); err != nil {
		return nil, err
	}
	cfg.Store.Dialect, cfg.CloseDB = sqlstore.Postgres, true // it closes the handle, not the pool under it
	return sqlstore.Open(ctx, stdlib.OpenDBFromPool(pool), cfg)
}
