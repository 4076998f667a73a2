package sqlstore

import (
	"context"
	"database/sql"

	"github.com/seed-299c1d6b/snowkey/worker"
)

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
