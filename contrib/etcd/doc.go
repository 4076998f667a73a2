// Package etcd keeps leases of worker IDs in etcd 3.4 or later, over your client:
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://etcd:2379"}})
//	if err != nil {
//		return err
//	}
//	gen, err := etcd.Open(ctx, client, etcd.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//
// It is a module of its own, so that only its users depend on etcd's client.
//
// # Guarantees
//
// Each worker ID that was ever held has a key with its record: fencing token, claim ID, owner
// and fence. The key has no etcd lease and is never deleted, because uniqueness depends on it.
// Every verb is one transaction that compares the revision of the record. A second key marks
// the holder as present; it has an etcd lease with the time to live, which etcd measures. When
// it is gone, others may claim the worker ID, starting at the recorded fence.
//
// A role of etcd needs to read and write keys that begin with "snowkey#", and no others.
//
// # Limits
//
// etcd must not lose a write that it has acknowledged, and the store cannot check that: do not
// use --unsafe-no-fsync.
//
// etcd has no wall clock. Unless [Config.Clock] is set, claimants' clocks are compared with
// nothing, and [Store.Warnings] says so. Ids are unique anyway, but after a claim by a fast
// clock its worker ID stays unused until the fence has passed.
//
// docs/workers.md says how the time to live is rounded, and how to set up etcd and its client for
// outages.
//
// # Keys
//
// "#" is neither in a prefix nor in a namespace, so no namespace reaches another's keys:
//
//	snowkey#layout#NAMESPACE            the fingerprint of the layout
//	snowkey#worker#NAMESPACE#WORKER_ID  {"epoch":3,"token":"…","owner":"…","until":1767225600000}
//	snowkey#alive#NAMESPACE#CLAIM_ID    the time to live
//	snowkey#counter#NAME                the next value
package etcd
