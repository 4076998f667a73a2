package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"

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

var errNotCounter = errors.New("it is not the value of a counter")

// Count implements driver.Counter. The store never lowers a counter. If the answer is lost, the
// value is skipped.
func (s *Store) Count(ctx context.Context, name string) (int64, error) {
	if err := s.begin(ctx, name); err != nil {
		return 0, err
	}
	what, key := fmt.Sprintf("count %q", name), s.counterKey(name)
	var value int64
	err := s.retry(ctx, what, func() (bool, error) {
		found, err := s.client.Get(ctx, key)
		if err != nil {
			return false, s.failed(ctx, what, err)
		}
		var revision int64
		value = 0
		if len(found.Kvs) > 0 {
			kv := found.Kvs[0]
			revision = kv.ModRevision
			if value, err = strconv.ParseInt(string(kv.Value), 10, 64); err != nil || value < 0 {
				return false, fmt.Errorf("etcd: key %q holds %.300q: %w", kv.Key, kv.Value, errNotCounter)
			}
		}
		written, err := s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
			Then(clientv3.OpPut(key, strconv.FormatInt(value+1, 10))).
			Commit()
		if err != nil {
			return false, s.failed(ctx, what, err)
		}
		return written.Succeeded, nil
	})
	if err != nil {
		return 0, err
	}
	return value, nil
}
