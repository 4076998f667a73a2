package etcdstore

import (
	"context"
	"errors"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// lifetime is the time to live that one call gives: an etcd lease, made when it is
// needed and once only, however often the call has to try.
type lifetime struct {
	store *Store
	ttl   int64
	id    clientv3.LeaseID // 0: none yet
}

// put attaches the key to a new lease, or to none if the time does not end.
func (l *lifetime) put(ctx context.Context, key string) (clientv3.Op, error) {
	value := strconv.FormatInt(l.ttl, 10)
	if l.ttl >= driver.NoTTL {
		return clientv3.OpPut(key, value), nil
	}
	if l.id == 0 {
		granted, err := l.store.client.Grant(ctx, max(1, (l.ttl+999)/1000))
		if err != nil {
			return clientv3.Op{}, l.store.failed(ctx, "grant an etcd lease", err)
		}
		l.id = granted.ID
	}
	return clientv3.OpPut(key, value, clientv3.WithLease(l.id)), nil
}

// goOn lets the time of a key begin anew; alive is nil if it has ended. What is
// returned belongs into the transaction.
func (l *lifetime) goOn(ctx context.Context, key string, alive *mvccpb.KeyValue) (clientv3.Op, error) {
	if alive == nil || alive.Lease == 0 || string(alive.Value) != strconv.FormatInt(l.ttl, 10) {
		return l.put(ctx, key)
	}
	_, err := second(ctx, func(ctx context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
		return l.store.client.KeepAliveOnce(ctx, clientv3.LeaseID(alive.Lease))
	})
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound): // it ended just now
		return l.put(ctx, key)
	case err != nil:
		return clientv3.Op{}, l.store.failed(ctx, "keep an etcd lease alive", err)
	}
	return clientv3.OpGet(key, clientv3.WithKeysOnly()), nil
}

// giveUp ends a lease that was not used. If that fails it ends by itself.
func (l *lifetime) giveUp(ctx context.Context) {
	if l.id != 0 {
		_, _ = l.store.client.Revoke(ctx, l.id)
		l.id = 0
	}
}
