// Package backfill gives keys to rows of an old table.
package backfill

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Run gives a key to each row that has none.
func Run(ctx context.Context, db *sql.DB, uuids []string) error {
	for _, uuid := range uuids {
		gen, err := sqlstore.Open(ctx, db, worker.Config{}) // FAULT 086 snowscope: a lease for each round of the loop
		if err != nil {
			return err
		}
		id, err := gen.Next(ctx)
		if cerr := gen.Close(context.WithoutCancel(ctx)); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("row %s: %w", uuid, err)
		}
		if _, err := db.ExecContext(ctx, "UPDATE items SET id = $1 WHERE uuid = $2", id, uuid); err != nil {
			return err
		}
	}
	return nil
}

// Each runs f for each tenant, with a generator of the tenant's own namespace and database.
func Each(ctx context.Context, tenants map[string]*sql.DB, f func(*sql.DB, sqltype.Source) error) error {
	for name, db := range tenants {
		if err := tenant(ctx, db, f); err != nil {
			return fmt.Errorf("tenant %s: %w", name, err)
		}
	}
	return nil
}

func tenant(ctx context.Context, db *sql.DB, f func(*sql.DB, sqltype.Source) error) error {
	gen, err := sqlstore.Open(ctx, db, worker.Config{}) // OK 65: one for each database, all of whose rows f writes
	if err != nil {
		return err
	}
	defer gen.Close(context.WithoutCancel(ctx))
	return f(db, gen)
}
