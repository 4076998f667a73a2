package etcdstore

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A view is what was read of a namespace, at one revision.
type view struct {
	driver.State
	incarnation incarnation
	later       bool                        // it continues the one that is recorded, and must be noted
	revision    int64                       // of the namespace's key
	revisions   map[int64]int64             // of the records' keys, by worker ID
	present     map[string]*mvccpb.KeyValue // the presence keys that were read
}

// all is the worker ID of read for all records.
const all = -1

// read reads a namespace, with one record and the presence of one claim, or all of them.
func (s *Store) read(ctx context.Context, what, name string, workerID int64, claimID string) (*view, error) {
	keys := s.recordKeys(name)
	ops := []clientv3.Op{
		clientv3.OpGet(s.namespaceKey(name)), clientv3.OpGet(keys, clientv3.WithPrefix(), clientv3.WithCountOnly()), clientv3.OpGet(s.oldKey(name), clientv3.WithCountOnly()),
		clientv3.OpGet(s.recordKey(name, workerID)), clientv3.OpGet(s.presenceKey(name, claimID)),
	}
	if workerID == all {
		ops[3], ops[4] = clientv3.OpGet(keys, clientv3.WithPrefix()), clientv3.OpGet(s.presenceKeys(name), clientv3.WithPrefix())
	}
	answer, err := ask(ctx, s, what, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.client.Txn(ctx).Then(ops...).Commit()
	})
	if err != nil {
		return nil, err
	}
	found := func(i int) []*mvccpb.KeyValue { return answer.Responses[i].GetResponseRange().Kvs }
	v := &view{revisions: make(map[int64]int64), present: make(map[string]*mvccpb.KeyValue)}
	if v.incarnation, err = s.lives(ctx, what, answer.Header); err != nil {
		return nil, err
	}
	v.Server, v.Namespace.Name, v.Missing = v.incarnation.String(), name, len(found(0)) == 0
	v.Count = answer.Responses[1].GetResponseRange().Count
	switch {
	case v.Missing && answer.Responses[2].GetResponseRange().Count > 0:
		return nil, driver.Permanent(fmt.Errorf("etcdstore: the key %q is of an unreleased version of snowkey: delete it, and the keys of its worker IDs, when no program uses them", s.oldKey(name)))
	case !v.Missing:
		v.revision = found(0)[0].ModRevision
		if v.Namespace, err = decodeNamespace(found(0)[0]); err != nil {
			return nil, err
		}
		continues, later := v.incarnation.continues(v.Namespace.Incarnation)
		if continues {
			v.Server, v.later = v.Namespace.Incarnation, later
		}
	}
	for _, kv := range found(3) {
		rec, err := decodeRecord(kv, keys)
		if err != nil {
			return nil, err
		}
		v.Records = append(v.Records, rec)
		v.revisions[rec.Worker] = kv.ModRevision
	}
	for _, kv := range found(4) {
		v.present[string(kv.Key)] = kv
	}
	// The clock is read after the namespace: it is not before anything that was seen.
	now, err := s.time(ctx)
	v.Now = now.UnixMilli()
	return v, err
}

// errAnother says that a write was done by another cluster than the read, or by the same one that was
// made anew since.
var errAnother = errors.New("etcdstore: another cluster has answered, or one that was made anew from a snapshot")

// put writes a namespace, unless it has changed since it was read.
func (s *Store) put(ctx context.Context, what string, v *view, ns driver.Namespace) (written bool, err error) {
	return s.commit(ctx, what, v, nil, clientv3.OpPut(s.namespaceKey(v.Namespace.Name), encode(ns)))
}

// putRecord writes a record, and does also what is given, unless the namespace, the record, or what
// is compared has changed. It notes a later incarnation.
func (s *Store) putRecord(ctx context.Context, what string, v *view, rec driver.Record, compare []clientv3.Cmp, also ...clientv3.Op) (written bool, err error) {
	name := v.Namespace.Name
	key := s.recordKey(name, rec.Worker)
	also = append(also, clientv3.OpPut(key, encode(rec)))
	if ns := v.Namespace; v.later {
		ns.Incarnation = v.incarnation.String()
		also = append(also, clientv3.OpPut(s.namespaceKey(name), encode(ns)))
	}
	return s.commit(ctx, what, v, append(compare, clientv3.Compare(clientv3.ModRevision(key), "=", v.revisions[rec.Worker])), also...)
}

// makeRecords makes unused records of worker IDs that have none, and counts them in the namespace: so
// one that is deleted meanwhile is missing afterwards.
func (s *Store) makeRecords(ctx context.Context, what string, v *view, id, workerIDs int64) (written bool, err error) {
	ids := []int64{id}
	if id == driver.MakeAny {
		ids = nil
		for n := int64(0); n < workerIDs && len(ids) < driver.MakeAtOnce; n++ {
			if _, known := v.revisions[n]; !known {
				ids = append(ids, n)
			}
		}
	}
	var compare []clientv3.Cmp
	var puts []clientv3.Op
	for _, id := range ids {
		key := s.recordKey(v.Namespace.Name, id)
		compare = append(compare, clientv3.Compare(clientv3.CreateRevision(key), "=", 0))
		puts = append(puts, clientv3.OpPut(key, encode(driver.Record{Worker: id, Status: driver.Unused})))
	}
	ns := v.Namespace
	ns.Seen += int64(len(ids))
	puts = append(puts, clientv3.OpPut(s.namespaceKey(ns.Name), encode(ns)))
	return s.commit(ctx, what, v, compare, puts...)
}

// commit does the operations if the namespace's key is as it was read, and what is compared holds.
func (s *Store) commit(ctx context.Context, what string, v *view, compare []clientv3.Cmp, ops ...clientv3.Op) (written bool, err error) {
	compare = append(compare, clientv3.Compare(clientv3.ModRevision(s.namespaceKey(v.Namespace.Name)), "=", v.revision))
	answer, err := ask(ctx, s, what, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.client.Txn(ctx).If(compare...).Then(ops...).Commit()
	})
	if err != nil {
		return false, err
	}
	if answer.Succeeded && !incarnationOf(answer.Header).follows(v.incarnation) {
		return false, errAnother
	}
	return answer.Succeeded, nil
}
