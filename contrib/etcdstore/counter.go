package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var errNotCounter = errors.New("it is not the value of a counter")

// Reserve implements driver.Counter: it takes the n numbers first to first+n-1 of a key. The
// first number of a key is 1. It is one transaction, atomic over all processes. If the answer is
// lost, the numbers are taken and never used.
//
// The rules for a key are those for a namespace. Keys stay until you delete them.
func (s *Store) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	if err := s.begin(ctx, key); err != nil {
		return 0, err
	}
	what, counter := fmt.Sprintf("reserve %d numbers of key %q", n, key), s.counterKey(key)
	err = driver.Retry(ctx, func() (bool, error) {
		found, err := ask(ctx, s, what, func(ctx context.Context) (*clientv3.GetResponse, error) { return s.client.Get(ctx, counter) })
		if err != nil {
			return false, err
		}
		var revision, last int64
		if len(found.Kvs) > 0 {
			kv := found.Kvs[0]
			revision = kv.ModRevision
			if last, err = strconv.ParseInt(string(kv.Value), 10, 64); err != nil || last < 0 {
				return false, fmt.Errorf("etcdstore: key %q holds %.300q: %w", kv.Key, kv.Value, errNotCounter)
			}
		}
		if last > math.MaxInt64-n {
			return false, fmt.Errorf("etcdstore: %s: the counter is %d, and would exceed 64 bits", what, last)
		}
		written, err := ask(ctx, s, what, func(ctx context.Context) (*clientv3.TxnResponse, error) {
			return s.client.Txn(ctx).
				If(clientv3.Compare(clientv3.ModRevision(counter), "=", revision)).
				Then(clientv3.OpPut(counter, strconv.FormatInt(last+n, 10))).
				Commit()
		})
		if err != nil {
			return false, err
		}
		first = last + 1
		return written.Succeeded, nil
	})
	if err != nil {
		return 0, err
	}
	return first, nil
}
