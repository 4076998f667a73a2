package readme

import (
	"context"
	"database/sql"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func assigned(ctx context.Context, db *sql.DB) (*worker.Generator, error) {
	id, err := worker.FromEnv(core.Twitter(), "WORKER", "DATACENTER")
	if err != nil {
		return nil, err
	}
	return sqlstore.Open(ctx, db, worker.Config{Preferred: &id, RequirePreferred: true})
}
