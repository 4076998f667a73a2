package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures Open and New. The zero value is ready for use.
type Config struct {
	// Prefix begins all keys: at most 255 printable ASCII characters, without space and '#'.
	// Zero: "snowkey".
	Prefix string
	// Clock returns the time with which claimants' clocks are compared. It is called once for
	// each claim, which fails if it does, and must return when ctx is done. Nil: the clock of
	// this process, so that no difference is found. See [HTTPClock].
	Clock func(ctx context.Context) (time.Time, error)
	// Lease configures the generator of Open and its lease: the namespace, the layout, an
	// observer. New ignores it.
	Lease worker.Config
}

// Open returns a generator with a worker ID that it leases from etcd: see [worker.Open], which
// says what is guaranteed, and which errors are returned. Close the generator before the client;
// it does not close the client.
func Open(ctx context.Context, client *clientv3.Client, cfg Config) (*worker.Generator, error) {
	store, err := New(client, cfg)
	if err != nil {
		return nil, err
	}
	return worker.Open(ctx, store, cfg.Lease)
}

// A Store keeps the records of any number of namespaces. Make it with New; every method of a
// nil or zero Store returns a *core.ConfigError. It does not close the client. All methods are
// safe for concurrent use.
type Store struct {
	driver.Limiter

	client *clientv3.Client
	prefix string
	clock  func(ctx context.Context) (time.Time, error) // nil: none
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError. It sends nothing.
func New(client *clientv3.Client, cfg Config) (*Store, error) {
	cfg.Prefix = cmp.Or(cfg.Prefix, "snowkey")
	var wrong []core.FieldError
	if client == nil {
		wrong = append(wrong, core.FieldError{Field: "client", Value: "nil", Reason: "must be an open *clientv3.Client"})
	}
	if !validPrefix(cfg.Prefix) {
		wrong = append(wrong, core.FieldError{Field: "Prefix", Value: fmt.Sprintf("%.100q", cfg.Prefix), Reason: "must be at most 255 printable ASCII characters, without space and '#'"})
	}
	if wrong != nil {
		return nil, &core.ConfigError{Package: "etcd", Fields: wrong}
	}
	return &Store{client: client, prefix: cfg.Prefix, clock: cfg.Clock}, nil
}

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.client == nil {
		return &core.ConfigError{Package: "etcd", Fields: []core.FieldError{{Field: "Store", Value: "nil", Reason: "must come from etcd.New"}}}
	}
	return nil
}

// begin starts each method.
func (s *Store) begin(ctx context.Context, namespace string) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := driver.CheckNamespace(namespace); err != nil {
		return err
	}
	return ctx.Err()
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	if err := s.begin(ctx, r.Namespace); err != nil {
		return driver.Claim{}, err
	}
	clock, err := s.time(ctx)
	if err != nil {
		return driver.Claim{}, err
	}
	now := clock.UnixMilli()
	if err := r.CheckSkew(now); err != nil {
		return driver.Claim{}, err
	}
	lease := etcdLease{store: s, ttl: r.TTL}
	var c driver.Claim
	var shuffle func(int, func(i, j int)) // after a race, to choose another worker ID than the winner
	err = s.retry(ctx, claimText(r), func() (swapped bool, err error) {
		c, swapped, err = s.claimOnce(ctx, r, now, &lease, shuffle)
		shuffle = rand.Shuffle
		return swapped, err
	})
	if err != nil {
		return driver.Claim{}, err
	}
	return c, nil
}

func claimText(r driver.Request) string { return fmt.Sprintf("claim in namespace %q", r.Namespace) }

// retry is driver.Retry, whose own errors say what was done.
func (s *Store) retry(ctx context.Context, what string, swap func() (swapped bool, err error)) error {
	var failed bool
	err := driver.Retry(ctx, func() (bool, error) {
		swapped, err := swap()
		failed = err != nil
		return swapped, err
	})
	if err != nil && !failed {
		return fmt.Errorf("etcd: %s: %w", what, err)
	}
	return err
}

// claimOnce reads the namespace and tries one worker ID. It has not swapped if the record has
// changed since, or if the claim ID has a worker ID already.
func (s *Store) claimOnce(ctx context.Context, r driver.Request, now int64, lease *etcdLease, shuffle func(int, func(i, j int))) (c driver.Claim, swapped bool, err error) {
	found, err := s.read(ctx, r.Namespace)
	if err != nil {
		return c, false, err
	}
	if found.layout != nil && *found.layout != r.Layout {
		lease.revoke(ctx)
		return c, false, &driver.LayoutError{Namespace: r.Namespace, Have: *found.layout, Want: r.Layout}
	}
	records := found.records(now)
	for _, rec := range records {
		if rec.ClaimID == r.ClaimID {
			lease.revoke(ctx)
			return r.Replay(rec), true, nil
		}
	}
	free, err := driver.Candidates(r, records, now, shuffle)
	if errors.Is(err, driver.ErrNoWorkerID) {
		lease.revoke(ctx)
		s.findSoonest(ctx, found, now)
		_, err = driver.Candidates(r, found.records(now), now, nil) // which says how long to wait
		if err == nil {
			return c, false, nil // one has become free meanwhile
		}
	}
	if err != nil {
		return c, false, err
	}
	old := free[0]
	granted, c := r.Grant(old, now)
	put, err := lease.put(ctx, s.presenceKey(r.Namespace, r.ClaimID))
	if err != nil {
		return c, false, err
	}
	// The record must be as it was read, its holder must not have come back, and the claim ID
	// must not have got another worker ID by a request that was late.
	key := s.recordKey(r.Namespace, old.Worker)
	compare := []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(key), "=", found.revisions[old.Worker]),
		clientv3.Compare(clientv3.CreateRevision(s.presenceKey(r.Namespace, r.ClaimID)), "=", 0),
	}
	if old.ClaimID != "" {
		compare = append(compare, clientv3.Compare(clientv3.CreateRevision(s.presenceKey(r.Namespace, old.ClaimID)), "=", 0))
	}
	then := []clientv3.Op{clientv3.OpPut(key, encode(granted)), put}
	if found.layout == nil {
		compare = append(compare, clientv3.Compare(clientv3.CreateRevision(s.layoutKey(r.Namespace)), "=", 0))
		then = append(then, clientv3.OpPut(s.layoutKey(r.Namespace), r.Layout))
	} else {
		compare = append(compare, clientv3.Compare(clientv3.Value(s.layoutKey(r.Namespace)), "=", r.Layout))
	}
	answer, err := s.client.Txn(ctx).If(compare...).Then(then...).Commit()
	if err != nil {
		return c, false, s.failed(ctx, claimText(r), err)
	}
	return c, answer.Succeeded, nil
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	lease := etcdLease{store: s, ttl: r.TTL}
	return s.change(ctx, "renew", r.Namespace, r.Worker, r.FencingToken, r.ClaimID, func(e *entry) (clientv3.Op, error) {
		e.Fence = max(e.Fence, r.Fence)
		return lease.keepAlive(ctx, s.presenceKey(r.Namespace, r.ClaimID), e.presence)
	})
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return s.change(ctx, "release", r.Namespace, r.Worker, r.FencingToken, r.ClaimID, func(e *entry) (clientv3.Op, error) {
		e.ClaimID, e.Fence = "", r.Fence
		return clientv3.OpDelete(s.presenceKey(r.Namespace, r.ClaimID)), nil
	})
}

// change modifies a record that has this fencing token and claim ID, in a compare-and-set, and
// does what modify returns in the same transaction.
func (s *Store) change(ctx context.Context, verb, namespace string, workerID, fencingToken int64, claimID string, modify func(*entry) (clientv3.Op, error)) error {
	if err := s.begin(ctx, namespace); err != nil {
		return err
	}
	if claimID == "" {
		return driver.ErrNotHeld
	}
	what := fmt.Sprintf("%s worker ID %d of namespace %q", verb, workerID, namespace)
	key, presence := s.recordKey(namespace, workerID), s.presenceKey(namespace, claimID)
	return s.retry(ctx, what, func() (bool, error) {
		read, err := hedge(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
			return s.client.Txn(ctx).Then(clientv3.OpGet(key), clientv3.OpGet(presence)).Commit()
		})
		if err != nil {
			return false, s.failed(ctx, what, err)
		}
		found := read.Responses[0].GetResponseRange().Kvs
		if len(found) == 0 {
			return false, driver.ErrNotHeld
		}
		e := entry{revision: found[0].ModRevision}
		if e.Record, err = decode(found[0]); err != nil {
			return false, err
		}
		if e.FencingToken != fencingToken || e.ClaimID != claimID {
			return false, driver.ErrNotHeld
		}
		if kvs := read.Responses[1].GetResponseRange().Kvs; len(kvs) > 0 {
			e.presence = kvs[0]
		}
		also, err := modify(&e)
		if err != nil {
			return false, err
		}
		written, err := hedge(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
			return s.client.Txn(ctx).
				If(clientv3.Compare(clientv3.ModRevision(key), "=", e.revision)).
				Then(clientv3.OpPut(key, encode(e.Record)), also).
				Commit()
		})
		if err != nil {
			return false, s.failed(ctx, what, err)
		}
		return written.Succeeded, nil
	})
}
