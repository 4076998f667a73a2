package worker

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// within is a store whose space has the numbers of one datacenter: 0 to workers-1
// there are first to first+workers-1 here. The space's fingerprint says which
// datacenter, so that no other uses it by mistake.
type within struct {
	driver.Store
	datacenter, first, workers int64
}

func withinDatacenter(s driver.Store, l core.Layout, datacenter int64) driver.Store {
	return within{s, datacenter, datacenter << l.WorkerBits, values(l.WorkerBits)}
}

func (w within) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	r.Layout += fmt.Sprintf(" only-datacenter=%d", w.datacenter)
	r.WorkerIDs = w.workers
	r.Preferred = w.local(r.Preferred)
	r.Exclude = w.local(r.Exclude)
	c, err := w.Store.Claim(ctx, r)
	if err != nil {
		return driver.Claim{}, err
	}
	if c.Worker < 0 || c.Worker >= w.workers { // before it becomes another datacenter's
		return driver.Claim{}, fmt.Errorf("worker: the store gave what was not asked for: number %d of %d in datacenter %d", c.Worker, w.workers, w.datacenter)
	}
	c.Worker += w.first
	return c, nil
}

// local is the space's number for one of the layout's; -1, none, stays what it is.
func (w within) local(number int64) int64 {
	if number < w.first {
		return -1
	}
	return number - w.first
}

func (w within) Renew(ctx context.Context, r driver.Renewal) error {
	r.Worker -= w.first
	return w.Store.Renew(ctx, r)
}

func (w within) Release(ctx context.Context, r driver.Return) error {
	r.Worker -= w.first
	return w.Store.Release(ctx, r)
}
