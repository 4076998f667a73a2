// Package etcdstore keeps worker leases in an etcd of version 3.4 or later, over
// the client you have:
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://etcd:2379"}})
//	…
//	lease, err := worker.Acquire(ctx, etcdstore.New(client, etcdstore.Config{}), worker.Config{})
//
// It is a module of its own, so that only those who import it get etcd's client.
//
// # What is kept
//
// Each number that was ever held has a key with its record: epoch, token, owner and
// bound. It is never attached to an etcd lease and never deleted: uniqueness rests
// on it. Every verb is one transaction that compares the record's revision, so a
// record is changed only as it was read. A second key says that a holder is there.
// It hangs on an etcd lease with the time to live, which etcd itself measures; when
// it is gone, others may claim the number, beginning at the recorded bound. A third
// holds the layout's fingerprint, one for the space.
//
// No '#' may stand in a prefix, and none can stand in the name of a space, so no
// space reaches another's keys:
//
//	snowkey#layout#SPACE
//	snowkey#worker#SPACE#NUMBER    {"epoch":3,"token":"…","owner":"…","until":1767225600000}
//	snowkey#alive#SPACE#TOKEN      the time to live
//	snowkey#counter#NAME
//
// A role of etcd needs to read and write what begins with "snowkey#", and no more.
//
// # Time
//
// A time to live is measured by etcd alone, on the leader's monotonic clock, and in
// its unit: it is rounded up to whole seconds, and is at least 1.5 times etcd's
// election timeout. After a change of the leader it begins anew.
//
// etcd does not tell the time of day. What [worker.Config.MaxSkew] compares with is
// [Config.Clock]; without one it is the clock of the process itself, so that
// nothing is found to be wrong, also after a leap of the clock, and [Store.Warnings] says
// so. Ids are unique all the same. But a claimant whose
// clock is fast by an hour leaves a bound that is an hour ahead, and its number is
// not given again until then, see worker.Config.MaxLead. [HTTPClock] asks a member of
// the etcd.
//
// # What the etcd must do
//
// It must not lose what it has acknowledged, and cannot be asked whether it does:
// no --unsafe-no-fsync, and a disk that keeps what it has synced. Take three members
// or more, so that the loss of one loses nothing. A member that has lost its data
// must join as a new one.
//
// A member that has ended is found out at once. One that hangs, or that the network has
// swallowed, keeps its connection, and the client goes on asking it in its turn. A
// renewal or a release, which is several requests, makes each that has no answer in a
// third of the time left a second time, at the next member; a claim and a count do not. So
// let the client look after its connections, by clientv3.Config's DialKeepAliveTime of
// 10s, which is the least that gRPC takes, and a DialKeepAliveTimeout of 3s; without
// them nothing may end this.
//
// A snapshot that is restored has forgotten the latest bounds. End all holders
// before, and start none until the clock has passed the last bound: that is
// worker.Config.FenceWindow after the last of them ended, and longer if its clock was fast.
//
// Every renewal leaves a revision of about 200 bytes: have etcd compact its
// history, as --auto-compaction-mode=periodic --auto-compaction-retention=1h does.
package etcdstore
