// Package etcdstore keeps leases of worker IDs in etcd 3.4 or later, over your client:
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://etcd:2379"}})
//	if err != nil {
//		return err
//	}
//	store, err := etcdstore.New(client, etcdstore.Config{})
//	if err != nil {
//		return err
//	}
//	gen, err := worker.Open(ctx, store, worker.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//
// It is a separate module, so that only its users depend on etcd's client.
//
// # Guarantees
//
// Each worker ID that was ever held has a key with its record, and the namespace one with what is
// common to all. Every write is one transaction that compares the revisions of both. A third key
// marks the holder as present; it has an etcd lease of FenceWindow + MaxSkew. Others can claim the
// worker ID when that key is gone and the fence has passed, and they start at the fence.
//
// After a restore from a snapshot, which etcd shows by another cluster ID, a lower raft term, or a
// raft log whose index is below the revision, claims start ahead of the clock, by FenceWindow +
// MaxSkew, as in a new namespace. Leases that were held are renewed if their records are there.
//
// A role of etcd needs to read and write keys that begin with "snowkey#", and no others. But etcd 3.6
// with authentication shows the state of a member, which each request asks for, to the role root alone.
//
// # Limits
//
// etcd has no wall clock. [Config.Clock] is the store's; without it, each program uses its own, and
// nothing checks them. A wrong clock leads to no duplicate, unless etcd is restored as well: then the
// clocks of the programs must have been within MaxSkew of each other.
//
// A restore may not be seen if the cluster has already written more to its raft log than before it, or if it
// was restored less than 100 revisions ago. So run snowkey workers floor after each restore, before programs
// start. With --unsafe-no-fsync, a crash may lose what was acknowledged, and nothing shows that.
//
// docs/workers.md says how to set up etcd and its client for outages.
//
// # Keys
//
// "#" is neither in a prefix nor in a namespace, so no namespace reaches another's keys:
//
//	snowkey#namespace#NAMESPACE        a driver.Namespace, in JSON
//	snowkey#lease#NAMESPACE#WORKER_ID  a driver.Record, in JSON
//	snowkey#alive#NAMESPACE#CLAIM_ID   the time to live
//	snowkey#counter#NAME               the last value
//
// To read the code, begin with store.go and namespace.go, then lease.go and incarnation.go.
package etcdstore
