package readme

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
)

func assigned(ctx context.Context, dir string) (*worker.Generator, error) {
	id, err := worker.FromEnv(core.Twitter(), "WORKER", "DATACENTER")
	if err != nil {
		return nil, err
	}
	store, err := filestore.New(filestore.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	return worker.Open(ctx, store, worker.Config{Preferred: &id, RequirePreferred: true})
}
