// Package redisstore keeps leases of worker IDs in Redis, over any client that can evaluate a
// script. With go-redis:
//
//	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
//		return client.Eval(ctx, script, keys, args...).Result()
//	}
//	gen, err := redisstore.Open(ctx, eval, redisstore.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	id, err := gen.Next(ctx)
//
// A store also counts, by [Store.Reserve]: for worker.FromCounter, and for package serial.
//
// # Guarantees
//
// Each verb is one script over one hash, and so atomic. No call outlasts its context, even
// without go-redis's ContextTimeoutEnabled; with that option, the client's connection is also
// free again at that time.
//
// # What Redis must do
//
// Redis 5 or later is needed. It must not lose a write that it has acknowledged, and with its
// default settings it does. Use a single primary with data of its own (appendonly yes,
// appendfsync always), without eviction, and without failover to a replica, which may lack the
// last writes. If a setting that the store can see is wrong, claims, renewals and counts are
// refused with a *driver.DurabilityError: each script checks appendonly and the eviction, and
// appendfsync is checked, only with Config.ConfigGet, after each write and before it is
// acknowledged. If you cannot have such a Redis, use a database: see package sqlstore.
package redisstore

import (
	"cmp"
	"context"
	_ "embed" // the scripts
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

var (
	//go:embed durable.lua
	durableScript string // is the beginning of those that give something out
	//go:embed claim.lua
	claimScript string
	//go:embed renew.lua
	renewScript string
	//go:embed release.lua
	releaseScript string
	//go:embed reserve.lua
	reserveScript string
	//go:embed identity.lua
	identityScript string
)

const listScript = `return redis.call('HGETALL', KEYS[1])`

// An EvalFunc evaluates a Lua script, as EVAL does. It returns a list as []any of strings or
// []byte.
type EvalFunc func(ctx context.Context, script string, keys []string, args ...any) (any, error)

// Config configures Open and New. The zero value is ready for use.
type Config struct {
	// Prefix begins all keys. Zero: "snowkey:".
	Prefix string
	// ConfigGet returns the value of a setting, as CONFIG GET does. The store uses it to check
	// appendfsync. With an empty value, or Redis's error that the command is unknown or not
	// permitted, the setting is not visible, and is not checked; any other error refuses the
	// request. Nil: it is not checked.
	ConfigGet func(ctx context.Context, name string) (string, error)
	// AllowDataLoss accepts a Redis that may lose writes that it has acknowledged. Ids may then
	// be issued twice after it was restarted or replaced.
	AllowDataLoss bool
	// Lease configures the generator of Open and its lease: the namespace, the layout, an
	// observer. New ignores it.
	Lease worker.Config
}

// Open returns a generator with a worker ID that it leases from Redis: see [worker.Open], which
// says what is guaranteed, and which errors are returned. Close the generator before the client.
func Open(ctx context.Context, eval EvalFunc, cfg Config) (*worker.Generator, error) {
	store, err := New(eval, cfg)
	if err != nil {
		return nil, err
	}
	return worker.Open(ctx, store, cfg.Lease)
}

// A Store keeps the records of any number of namespaces. Make it with New; every method of a
// nil or zero Store returns a *core.ConfigError. All methods are safe for concurrent use.
type Store struct {
	driver.Limiter

	eval  EvalFunc
	cfg   Config
	calls hung.Calls
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

// maxWorkerIDs is as far as a script can count.
const maxWorkerIDs = 1 << 53

// maxWait is the longest time.Duration in milliseconds.
const maxWait = int64(math.MaxInt64 / time.Millisecond)

// key returns that of a namespace, a counter or a table of identities. The name is in braces,
// which decide where a cluster keeps the key.
func (s *Store) key(kind, name string) string { return s.cfg.Prefix + kind + ":{" + name + "}" }

// check returns an error unless New made the store and Redis may keep the name.
func (s *Store) check(name string) error {
	if s == nil || s.eval == nil {
		return fields.Error("redisstore", "Store", nil, "must come from redisstore.New")
	}
	return driver.CheckNamespace(name)
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	if r.WorkerIDs > maxWorkerIDs {
		return driver.Claim{}, fields.Error("redisstore", "WorkerIDs", r.WorkerIDs, "must be at most 2^53, which is as far as Redis's scripts can count")
	}
	if err := s.check(r.Namespace); err != nil {
		return driver.Claim{}, err
	}
	if err := s.checkSync(ctx); err != nil { // here too, so that a claim that is refused leaves no record
		return driver.Claim{}, err
	}
	answer, err := s.evalDurable(ctx, "claim", claimScript, s.key("worker", r.Namespace),
		r.Layout, r.WorkerIDs, r.Preferred, r.RequirePreferred, r.Exclude, r.ClaimID, r.Owner, r.Now, r.FenceWindow, r.TTL, r.MaxSkew, r.MaxLead, int64(driver.NoTTL))
	if err != nil {
		return driver.Claim{}, err
	}
	if answer.is("layout", 1) {
		return driver.Claim{}, &driver.LayoutError{Namespace: r.Namespace, Have: answer.values[1], Want: r.Layout}
	}
	if n, err := answer.integers("skew", 1); err == nil {
		return driver.Claim{}, &driver.SkewError{Local: time.UnixMilli(r.Now), Store: time.UnixMilli(n[0]), Max: time.Duration(r.MaxSkew) * time.Millisecond}
	}
	if n, err := answer.integers("none", 4); err == nil {
		return driver.Claim{}, &driver.NoWorkerIDError{Namespace: r.Namespace, WorkerIDs: n[0], Leased: n[1], Ahead: n[2], Wait: time.Duration(min(n[3], maxWait)) * time.Millisecond}
	}
	n, err := answer.integers("ok", 4)
	if err != nil {
		return driver.Claim{}, err
	}
	return driver.Claim{Worker: n[0], FencingToken: n[1], From: n[2], Fence: n[3]}, nil
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	return s.change(ctx, s.evalDurable, "renew", renewScript, r.Namespace, r.Worker, r.FencingToken, r.ClaimID, r.Fence, r.TTL, int64(driver.NoTTL))
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return s.change(ctx, s.run, "release", releaseScript, r.Namespace, r.Worker, r.FencingToken, r.ClaimID, r.Fence, false)
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	return s.change(ctx, s.run, "free", releaseScript, namespace, workerID, fencingToken, "", int64(0), true)
}

// change runs a script that changes one record, or answers that it is not held.
func (s *Store) change(ctx context.Context, run runFunc, what, script, namespace string, args ...any) error {
	if err := s.check(namespace); err != nil {
		return err
	}
	answer, err := run(ctx, what, script, s.key("worker", namespace), args...)
	if err != nil {
		return err
	}
	if answer.is("taken", 0) {
		return driver.ErrNotHeld
	}
	_, err = answer.integers("ok", 0)
	return err
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) ([]driver.Record, error) {
	if err := s.check(namespace); err != nil {
		return nil, err
	}
	all, err := s.run(ctx, "list", listScript, s.key("worker", namespace))
	if err != nil {
		return nil, err
	}
	var records []driver.Record
	for i := 0; i+1 < len(all.values); i += 2 {
		field, value := all.values[i], all.values[i+1]
		if field == "layout" {
			continue
		}
		parts := strings.Split(value, "\n")
		if len(parts) != 5 {
			return nil, fmt.Errorf("redisstore: the field %q of namespace %q was not written by a store of this version: %q", field, namespace, value)
		}
		n, err := reply{all.what, []string{"", field, parts[0], parts[2], parts[3]}}.integers("", 4)
		if err != nil {
			return nil, err
		}
		records = append(records, driver.Record{Worker: n[0], FencingToken: n[1], ClaimID: parts[1], Owner: parts[4], Fence: n[2], Expires: n[3]})
	}
	slices.SortFunc(records, func(a, b driver.Record) int { return cmp.Compare(a.Worker, b.Worker) })
	return records, nil
}
