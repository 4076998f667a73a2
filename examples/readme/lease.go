package readme

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// lease makes a generator whose number comes from the database.
func lease(ctx context.Context, db *sql.DB) (*worker.Lease, *core.Generator, error) {
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		return nil, nil, err
	}
	lease, err := worker.Acquire(ctx, store, worker.Config{Namespace: "orders"})
	if err != nil {
		return nil, nil, err // it says what to do
	}
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		return nil, nil, errors.Join(err, lease.Close())
	}
	return lease, gen, nil // at the end: gen.Close(), lease.Close()
}
