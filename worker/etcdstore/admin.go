package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// List implements worker.Admin. Row.Expires is by Config.Clock, to the second; it
// is 0 where the time to live is over. It asks etcd once for each
// number that is held.
func (s *Store) List(ctx context.Context, space string) ([]driver.Record, error) {
	if err := driver.CheckNamespace(space); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	clock, err := s.time(ctx)
	if err != nil {
		return nil, err
	}
	sp, err := s.read(ctx, space)
	if err != nil {
		return nil, err
	}
	for i := range sp.rows {
		if r := &sp.rows[i]; r.alive != nil && r.alive.Lease != 0 {
			if err := s.remaining(ctx, r); err != nil {
				return nil, err
			}
		}
	}
	return sp.list(clock.UnixMilli()), nil
}

// Free implements worker.Admin.
func (s *Store) Free(ctx context.Context, space string, number, epoch int64) error {
	if err := driver.CheckNamespace(space); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	what := fmt.Sprintf("free number %d of space %q", number, space)
	key := s.rowKey(space, number)
	found, err := s.client.Get(ctx, key)
	if err != nil {
		return s.failed(ctx, what, err)
	}
	if len(found.Kvs) == 0 {
		return driver.ErrNotHeld
	}
	held, err := parseRecord(found.Kvs[0])
	if err != nil {
		return err
	}
	return s.change(ctx, what, space, number, epoch, held.Token, func(r *row) (clientv3.Op, error) {
		r.Token = ""
		return clientv3.OpDelete(s.aliveKey(space, held.Token)), nil
	})
}

var errNoCount = errors.New("it is no count")

// Count implements driver.Counter. Nothing lowers the counter but you. A count
// whose answer is lost is not given again.
func (s *Store) Count(ctx context.Context, name string) (int64, error) {
	if err := driver.CheckNamespace(name); err != nil {
		return 0, err
	}
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	what, key := fmt.Sprintf("count %q", name), s.counterKey(name)
	var value int64
	err := repeat(ctx, func() (bool, error) {
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
				return false, fmt.Errorf("etcdstore: key %q holds %.300q: %w", kv.Key, kv.Value, errNoCount)
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
