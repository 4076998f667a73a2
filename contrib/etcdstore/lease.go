package etcdstore

import (
	"context"
	"errors"
	"strconv"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// etcdLease is the etcd lease of one call. It is granted when it is first needed, and only once,
// however often the call retries.
type etcdLease struct {
	store *Store
	id    clientv3.LeaseID // 0: none yet
}

// put attaches the key to a new lease. A cluster that was made anew from a snapshot since does not
// know the lease, and so refuses the operation.
func (l *etcdLease) put(ctx context.Context, v *view, key string, ttl int64) (op clientv3.Op, ok bool, err error) {
	if l.id == 0 {
		granted, err := ask(ctx, l.store, "grant an etcd lease", func(ctx context.Context) (*clientv3.LeaseGrantResponse, error) {
			return l.store.client.Grant(ctx, max(1, (ttl+999)/1000))
		})
		if err != nil {
			return op, false, err
		}
		l.id = granted.ID
		if !incarnationOf(granted.ResponseHeader).follows(v.incarnation) {
			return op, false, nil
		}
	}
	return clientv3.OpPut(key, strconv.FormatInt(ttl, 10), clientv3.WithLease(l.id)), true, nil
}

// keepAlive restarts the time to live of a presence key, or puts it again if that has ended. The
// operation that it returns belongs in the transaction.
func (l *etcdLease) keepAlive(ctx context.Context, v *view, key string, ttl int64) (op clientv3.Op, ok bool, err error) {
	presence := v.present[key]
	if presence == nil || presence.Lease == 0 || string(presence.Value) != strconv.FormatInt(ttl, 10) {
		return l.put(ctx, v, key, ttl)
	}
	kept, err := ask(ctx, l.store, "keep an etcd lease alive", func(ctx context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
		return l.store.client.KeepAliveOnce(ctx, clientv3.LeaseID(presence.Lease))
	})
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound): // it has just ended
		return l.put(ctx, v, key, ttl)
	case err != nil:
		return op, false, err
	}
	return clientv3.OpGet(key, clientv3.WithKeysOnly()), incarnationOf(kept.ResponseHeader).follows(v.incarnation), nil
}

// revoke ends a lease that was not used. If that fails, it ends by itself.
func (l *etcdLease) revoke(ctx context.Context) {
	if l.id != 0 {
		_, _ = ask(ctx, l.store, "revoke an etcd lease", func(ctx context.Context) (*clientv3.LeaseRevokeResponse, error) {
			return l.store.client.Revoke(ctx, l.id)
		})
	}
}
