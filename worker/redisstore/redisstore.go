// Package redisstore keeps leases of worker IDs in Redis, over any client that can evaluate a
// script. With go-redis:
//
//	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
//		return client.Eval(ctx, script, keys, args...).Result()
//	}
//	gen, err := redisstore.Open(ctx, eval, worker.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	id, err := gen.Next(ctx)
//
// A renewal is one script. A claim reads, then writes if nothing has changed. No call outlasts its
// context, even without go-redis's ContextTimeoutEnabled; with that option, the client's connection
// is also free again at that time.
//
// # What Redis must do
//
// You need Redis 5 or later, or Valkey. Before 6.2, claims read all records. The Redis user needs
// +info: a server with another run_id or master_replid may have lost writes. So leases survive a
// restart without persistence, FLUSHALL, and a failover to a replica. A second FLUSHALL or failover is
// safe only after FenceWindow + MaxSkew. After any of these, and in a new namespace, which looks like a
// lost one, claims start ahead of the clock by FenceWindow + MaxSkew. A Redis without appendonly must
// also have run for that long; before that, a claim returns a *driver.FloorError. Once another server
// has taken over, the old one must acknowledge nothing more, even in a partition.
//
// A counter ([Store.Reserve]) needs a Redis that loses no acknowledged write: a single primary with
// appendonly yes and appendfsync always, without eviction and failover. Reserve returns a
// *driver.DurabilityError if it sees another setting. It sees appendfsync only with Config.ConfigGet.
//
// # Keys
//
//	snowkey:lease:{NAMESPACE}           its fields, and the record of each worker ID
//	snowkey:claim:{NAMESPACE}:CLAIM_ID  its worker ID, for an hour
//	snowkey:counter:{KEY}               the last number
package redisstore

import (
	"cmp"
	"context"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// An EvalFunc evaluates a Lua script like EVAL. It returns a list as an []any of strings or []byte.
type EvalFunc func(ctx context.Context, script string, keys []string, args ...any) (any, error)

// Config configures New. The zero value is ready for use.
type Config struct {
	// Prefix is the prefix of all keys. Zero: "snowkey:".
	Prefix string
	// ConfigGet returns the value of a setting, like CONFIG GET, for [Store.Reserve]. If the value
	// is empty, or Redis's error says that the command is unknown or not permitted, the setting is
	// not checked. On any other error, Reserve fails. Nil: the setting is not checked.
	ConfigGet func(ctx context.Context, name string) (string, error)
	// AllowDataLoss accepts, for counters, a Redis that may lose acknowledged writes, as in tests.
	// Numbers may then be issued twice. Leases need no such setting.
	AllowDataLoss bool
}

// Open returns a generator with a worker ID that it leases from Redis. See [worker.Open] for the
// guarantees and errors. Close the generator before the client. For keys with another prefix, call
// worker.Open with a store of New.
func Open(ctx context.Context, eval EvalFunc, cfg worker.Config) (*worker.Generator, error) {
	store, err := New(eval, Config{})
	if err != nil {
		return nil, err
	}
	return worker.Open(ctx, store, cfg)
}

// A Store keeps the records of any number of namespaces. Make it with New; every method of a
// nil or zero Store returns a *core.ConfigError. All methods are safe for concurrent use.
type Store struct {
	eval    EvalFunc
	cfg     Config
	calls   hung.Calls
	limiter driver.Limiter
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError if eval is nil. It sends nothing.
func New(eval EvalFunc, cfg Config) (*Store, error) {
	if eval == nil {
		return nil, fields.Error("redisstore", "eval", nil, "must be given")
	}
	cfg.Prefix = cmp.Or(cfg.Prefix, "snowkey:")
	return &Store{eval: eval, cfg: cfg}, nil
}

// maxWorkerIDs is the greatest integer that a script can count to.
const maxWorkerIDs = 1 << 53

// key returns the key of a namespace or a counter. The name is in braces, so that a cluster keeps all
// keys of one name in the same slot.
func (s *Store) key(kind, name string) string { return s.cfg.Prefix + kind + ":{" + name + "}" }

// check returns an error unless New made the store and the name is valid.
func (s *Store) check(name string) error {
	if s == nil || s.eval == nil {
		return fields.Error("redisstore", "Store", nil, "must come from redisstore.New")
	}
	return driver.CheckNamespace(name)
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	if c.WorkerIDs > maxWorkerIDs {
		return driver.Lease{}, fields.Error("redisstore", "WorkerIDs", c.WorkerIDs, "must be at most 2^53, which is as far as Redis's scripts can count")
	}
	if err := s.check(c.Namespace); err != nil {
		return driver.Lease{}, err
	}
	t := transaction{store: s, name: c.Namespace, claim: c}
	return driver.Transact(ctx, t.decideClaim, func(ctx context.Context, all bool) (driver.State, error) {
		if all {
			return t.read(ctx, readAll)
		}
		return t.read(ctx, readEnough, c.Preferred, c.Former.Worker)
	}, t.write)
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	if err := s.check(r.Namespace); err != nil {
		return driver.Lease{}, err
	}
	t := transaction{store: s, name: r.Namespace}
	l, renewed, err := t.renew(ctx, r)
	if err != nil || renewed {
		return l, err
	}
	read := func(ctx context.Context, _ bool) (driver.State, error) { return t.read(ctx, 0, r.Worker) }
	decide := func(st driver.State) (driver.Change, error) { return t.decideRenewal(r, st) }
	decided, err := driver.Transact(ctx, decide, read, func(ctx context.Context, st driver.State, ch driver.Change) (bool, error) {
		if ch.Namespace != nil {
			return t.write(ctx, st, ch)
		}
		l, renewed, err = t.renew(ctx, r)
		return renewed, err
	})
	l.FloorRaised = decided.FloorRaised
	return l, err
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Release) error {
	return s.changeRecord(ctx, r.Namespace, r.Worker, r.Decide)
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	return s.changeRecord(ctx, namespace, workerID, func(rec driver.Record) (driver.Record, error) { return rec.Free(fencingToken) })
}

// Raise implements driver.Admin.
func (s *Store) Raise(ctx context.Context, namespace string, fenceWindow int64) (raised driver.Namespace, err error) {
	if err := s.check(namespace); err != nil {
		return raised, err
	}
	t := transaction{store: s, name: namespace}
	err = driver.Retry(ctx, func() (bool, error) {
		st, err := t.read(ctx, readAll)
		if err != nil {
			return false, err
		}
		ch, err := st.Raise(fenceWindow)
		if err != nil {
			return false, err
		}
		raised = *ch.Namespace
		return t.write(ctx, st, ch)
	})
	return raised, err
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) (driver.State, error) {
	if err := s.check(namespace); err != nil {
		return driver.State{}, err
	}
	t := transaction{store: s, name: namespace}
	st, err := t.read(ctx, readAll)
	return st.Listed(), err
}
