package etcd

import (
	"context"
	"errors"
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// etcdLease is the etcd lease of one call. It is granted when it is first needed, and only once,
// however often the call retries.
type etcdLease struct {
	store *Store
	ttl   int64
	id    clientv3.LeaseID // 0: none yet
}

// put attaches the key to a new lease, or to none if the time to live never ends.
func (l *etcdLease) put(ctx context.Context, key string) (clientv3.Op, error) {
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

// keepAlive restarts the time to live of a presence key, which is nil if it has ended. The
// operation that it returns belongs in the transaction.
func (l *etcdLease) keepAlive(ctx context.Context, key string, presence *mvccpb.KeyValue) (clientv3.Op, error) {
	if presence == nil || presence.Lease == 0 || string(presence.Value) != strconv.FormatInt(l.ttl, 10) {
		return l.put(ctx, key)
	}
	_, err := hedge(ctx, func(ctx context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
		return l.store.client.KeepAliveOnce(ctx, clientv3.LeaseID(presence.Lease))
	})
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound): // it has just ended
		return l.put(ctx, key)
	case err != nil:
		return clientv3.Op{}, l.store.failed(ctx, "keep an etcd lease alive", err)
	}
	return clientv3.OpGet(key, clientv3.WithKeysOnly()), nil
}

// revoke ends a lease that was not used. If that fails, it ends by itself.
func (l *etcdLease) revoke(ctx context.Context) {
	if l.id != 0 {
		_, _ = l.store.client.Revoke(ctx, l.id)
		l.id = 0
	}
}
