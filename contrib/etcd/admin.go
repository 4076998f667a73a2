package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// List implements driver.Admin. Record.Expires is by Config.Clock, to the second, and 0 if the
// time to live has ended. List sends one request for each worker ID that is held.
func (s *Store) List(ctx context.Context, namespace string) ([]driver.Record, error) {
	if err := s.begin(ctx, namespace); err != nil {
		return nil, err
	}
	clock, err := s.time(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	for i := range found.entries {
		if e := &found.entries[i]; e.presence != nil && e.presence.Lease != 0 {
			if err := s.remaining(ctx, e); err != nil {
				return nil, err
			}
		}
	}
	return found.records(clock.UnixMilli()), nil
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	if err := s.begin(ctx, namespace); err != nil {
		return err
	}
	found, err := s.client.Get(ctx, s.recordKey(namespace, workerID))
	if err != nil {
		return s.failed(ctx, fmt.Sprintf("free worker ID %d of namespace %q", workerID, namespace), err)
	}
	if len(found.Kvs) == 0 {
		return driver.ErrNotHeld
	}
	rec, err := decode(found.Kvs[0])
	if err != nil {
		return err
	}
	return s.change(ctx, "free", namespace, workerID, fencingToken, rec.ClaimID, func(e *entry) (clientv3.Op, error) {
		e.ClaimID = ""
		return clientv3.OpDelete(s.presenceKey(namespace, rec.ClaimID)), nil
	})
}
