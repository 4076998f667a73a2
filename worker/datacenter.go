package worker

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A datacenterStore restricts a store to the worker IDs of one datacenter. It maps first to
// first+workers-1 of the layout to 0 to workers-1 of the namespace. The namespace's fingerprint
// contains the datacenter, so that no other datacenter uses it by mistake.
type datacenterStore struct {
	driver.Store
	datacenter, first, workers int64
}

func (s datacenterStore) Claim(ctx context.Context, r driver.Claim) (driver.Lease, error) {
	r.Layout = driver.OfDatacenter(r.Layout, s.datacenter)
	r.WorkerIDs = s.workers
	r.Preferred = s.local(r.Preferred)
	r.Exclude = s.local(r.Exclude)
	r.Former.Worker = s.local(r.Former.Worker)
	got, err := s.Store.Claim(ctx, r)
	got.Worker += s.first
	return got, err
}

// local returns the namespace's worker ID for one of the layout's; -1 (none) stays -1.
func (s datacenterStore) local(worker int64) int64 {
	if worker < s.first {
		return -1
	}
	return worker - s.first
}

func (s datacenterStore) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	r.Worker -= s.first
	got, err := s.Store.Renew(ctx, r)
	got.Worker += s.first
	return got, err
}

func (s datacenterStore) Release(ctx context.Context, r driver.Release) error {
	r.Worker -= s.first
	return s.Store.Release(ctx, r)
}
