package etcdstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// row is a number as it was read.
type row struct {
	record
	number   int64
	revision int64
	alive    *mvccpb.KeyValue // nil: no holder, or one whose time to live is over
	left     int64            // milliseconds of it, or as many as can be
}

// space is all of one, read at one revision.
type space struct {
	layout   *string
	rows     []row
	revision map[int64]int64
}

func (s *Store) read(ctx context.Context, name string) (*space, error) {
	rows, alive := s.rowsKey(name), s.aliveKeys(name)
	answer, err := s.client.Txn(ctx).Then(
		clientv3.OpGet(s.layoutKey(name)),
		clientv3.OpGet(rows, clientv3.WithPrefix()),
		clientv3.OpGet(alive, clientv3.WithPrefix()),
	).Commit()
	if err != nil {
		return nil, s.failed(ctx, fmt.Sprintf("read space %q", name), err)
	}
	sp := &space{revision: make(map[int64]int64)}
	if kvs := answer.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		text := string(kvs[0].Value)
		sp.layout = &text
	}
	there := make(map[string]*mvccpb.KeyValue)
	for _, kv := range answer.Responses[2].GetResponseRange().Kvs {
		there[string(kv.Key)] = kv
	}
	for _, kv := range answer.Responses[1].GetResponseRange().Kvs {
		r := row{revision: kv.ModRevision}
		if r.number, err = parseNumber(kv.Key, rows); err != nil {
			return nil, err
		}
		if r.record, err = parseRecord(kv); err != nil {
			return nil, err
		}
		if r.Token != "" {
			r.alive = there[s.aliveKey(name, r.Token)]
		}
		if r.alive != nil && r.alive.Lease != 0 {
			if r.left, err = strconv.ParseInt(string(r.alive.Value), 10, 64); err != nil {
				return nil, fmt.Errorf("etcdstore: key %q holds %.300q, which is no time to live: %w", r.alive.Key, r.alive.Value, err)
			}
		}
		sp.rows = append(sp.rows, r)
		sp.revision[r.number] = r.revision
	}
	slices.SortFunc(sp.rows, func(a, b row) int { return cmp.Compare(a.number, b.number) })
	return sp, nil
}

// list gives the rows as others have them, as if now were the store's clock.
func (sp *space) list(now int64) []driver.Record {
	all := make([]driver.Record, len(sp.rows))
	for i, r := range sp.rows {
		all[i] = driver.Record{Worker: r.number, FencingToken: r.Epoch, ClaimID: r.Token, Owner: r.Owner, Fence: r.Until, Expires: r.expires(now)}
	}
	return all
}

func (r *row) expires(now int64) int64 {
	switch {
	case r.alive == nil:
		return 0
	case r.alive.Lease == 0:
		return driver.NoTTL
	}
	return now + max(r.left, 0)
}

// ask is how many times to live are looked at to tell when one may end.
const ask = 8

// soonest looks up what is left of the times to live that end first: as far as
// can be told, those that were renewed the longest ago.
func (sp *space) soonest(ctx context.Context, s *Store, now int64) {
	var held []*row
	for i := range sp.rows {
		if r := &sp.rows[i]; r.expires(now) >= now && r.alive.Lease != 0 {
			held = append(held, r)
		}
	}
	slices.SortFunc(held, func(a, b *row) int { return cmp.Compare(a.revision, b.revision) })
	for _, r := range held[:min(ask, len(held))] {
		if s.remaining(ctx, r) != nil {
			return // what is known already is good enough
		}
	}
}

// remaining looks up what is left of a time to live.
func (s *Store) remaining(ctx context.Context, r *row) error {
	answer, err := s.client.TimeToLive(ctx, clientv3.LeaseID(r.alive.Lease))
	if err != nil {
		return s.failed(ctx, "ask for the rest of an etcd lease", err)
	}
	r.left = max(answer.TTL, 0) * 1000 // -1: it is over, and etcd about to delete the key
	return nil
}
