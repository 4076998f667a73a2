package etcd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// entry is a worker ID as it was read.
type entry struct {
	driver.Record // without Expires
	revision      int64
	presence      *mvccpb.KeyValue // nil: there is no holder, or its time to live has ended
	left          int64            // of the time to live, in milliseconds; at most this
}

// namespace is all of a namespace, read at one revision.
type namespace struct {
	layout    *string // nil: none is recorded
	entries   []entry // by worker ID
	revisions map[int64]int64
}

func (s *Store) read(ctx context.Context, name string) (*namespace, error) {
	prefix := s.recordKeys(name)
	answer, err := s.client.Txn(ctx).Then(
		clientv3.OpGet(s.layoutKey(name)),
		clientv3.OpGet(prefix, clientv3.WithPrefix()),
		clientv3.OpGet(s.presenceKeys(name), clientv3.WithPrefix()),
	).Commit()
	if err != nil {
		return nil, s.failed(ctx, fmt.Sprintf("read namespace %q", name), err)
	}
	ns := &namespace{revisions: make(map[int64]int64)}
	if kvs := answer.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		text := string(kvs[0].Value)
		ns.layout = &text
	}
	present := make(map[string]*mvccpb.KeyValue)
	for _, kv := range answer.Responses[2].GetResponseRange().Kvs {
		present[string(kv.Key)] = kv
	}
	for _, kv := range answer.Responses[1].GetResponseRange().Kvs {
		e := entry{revision: kv.ModRevision}
		if e.Record, err = decode(kv); err != nil {
			return nil, err
		}
		if e.Worker, err = parseWorkerID(kv.Key, prefix); err != nil {
			return nil, err
		}
		if e.ClaimID != "" {
			e.presence = present[s.presenceKey(name, e.ClaimID)]
		}
		if e.presence != nil && e.presence.Lease != 0 {
			if e.left, err = strconv.ParseInt(string(e.presence.Value), 10, 64); err != nil {
				return nil, fmt.Errorf("etcd: key %q holds %.300q, which is not a time to live: %w", e.presence.Key, e.presence.Value, err)
			}
		}
		ns.entries = append(ns.entries, e)
		ns.revisions[e.Worker] = e.revision
	}
	slices.SortFunc(ns.entries, func(a, b entry) int { return cmp.Compare(a.Worker, b.Worker) })
	return ns, nil
}

// records returns the entries as package driver has them, with now as the store's clock.
func (ns *namespace) records(now int64) []driver.Record {
	all := make([]driver.Record, len(ns.entries))
	for i, e := range ns.entries {
		all[i] = e.Record
		all[i].Expires = e.expires(now)
	}
	return all
}

func (e *entry) expires(now int64) int64 {
	switch {
	case e.presence == nil:
		return 0
	case e.presence.Lease == 0:
		return driver.NoTTL
	}
	return now + max(e.left, 0)
}

// maxLookups is how many times to live findSoonest asks for.
const maxLookups = 8

// findSoonest asks for the rest of the times to live that probably end first: those that were
// renewed the longest ago.
func (s *Store) findSoonest(ctx context.Context, ns *namespace, now int64) {
	var held []*entry
	for i := range ns.entries {
		if e := &ns.entries[i]; e.expires(now) >= now && e.presence.Lease != 0 {
			held = append(held, e)
		}
	}
	slices.SortFunc(held, func(a, b *entry) int { return cmp.Compare(a.revision, b.revision) })
	for _, e := range held[:min(maxLookups, len(held))] {
		if s.remaining(ctx, e) != nil {
			return // what is known is good enough
		}
	}
}

// remaining asks for the rest of a time to live.
func (s *Store) remaining(ctx context.Context, e *entry) error {
	answer, err := s.client.TimeToLive(ctx, clientv3.LeaseID(e.presence.Lease))
	if err != nil {
		return s.failed(ctx, "ask for the rest of an etcd lease", err)
	}
	e.left = max(answer.TTL, 0) * 1000 // -1: it has ended, and etcd is about to delete the key
	return nil
}
