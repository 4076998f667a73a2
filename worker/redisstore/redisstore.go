// Package redisstore keeps worker leases in a Redis, over any client: it needs of
// it only that it evaluates a script. With go-redis:
//
//	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
//		return client.Eval(ctx, script, keys, args...).Result()
//	}
//	lease, err := worker.Acquire(ctx, redisstore.New(redisstore.EvalFunc(eval), redisstore.Config{}), worker.Config{})
//
// No call outlasts its context, also without go-redis's ContextTimeoutEnabled; with it, the
// client's connection is free again at that time as well.
//
// Each verb is one script over one hash. Redis 5 or later is needed. A store also
// counts: [Store.Count] for worker.FromCounter, [Store.Reserve] for the numbers of
// package serial.
//
// # What the Redis must do
//
// It must not lose what it has acknowledged, and as it is installed it does. Needed
// are one node whose data is its own (appendonly yes, appendfsync always), no
// eviction, and no failover to a replica, which may lack the last writes. What can
// be seen and is not so is a *driver.DurabilityError: appendonly and the eviction from
// within the script, appendfsync only by Config.ConfigGet. Where it cannot be had,
// take a database: see sqlstore.
package redisstore

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

var (
	//go:embed durable.lua
	durableScript string // goes before those that give something out
	//go:embed claim.lua
	claimScript string
	//go:embed count.lua
	countScript string
	//go:embed renew.lua
	renewScript string
	//go:embed release.lua
	releaseScript string
	//go:embed identity.lua
	identityScript string
)

const (
	listScript = `return redis.call('HGETALL', KEYS[1])`
)

// An Evaler evaluates a Lua script, as EVAL does. A list comes back as []any of
// strings or []byte.
type Evaler interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) (any, error)
}

// EvalFunc makes an Evaler of a function.
type EvalFunc func(ctx context.Context, script string, keys []string, args ...any) (any, error)

// Eval implements Evaler.
func (f EvalFunc) Eval(ctx context.Context, script string, keys []string, args ...any) (any, error) {
	return f(ctx, script, keys, args...)
}

// Config is what a store is made of; the zero value is ready for use.
type Config struct {
	// Prefix of the keys. Zero: "snowkey:".
	Prefix string
	// ConfigGet gives the value of a setting, as CONFIG GET does; with it
	// appendfsync is checked. An error says that it may not be seen. nil: it is not.
	ConfigGet func(ctx context.Context, name string) (string, error)
	// AllowDataLoss accepts a Redis that may lose what it has acknowledged. Ids may then
	// be issued twice after it was restarted or replaced.
	AllowDataLoss bool
}

// Store keeps the numbers of any number of spaces. Make it with New.
type Store struct {
	driver.ClaimLimiter // of the leases that share the store

	eval  Evaler
	cfg   Config
	calls bounded.Calls
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError if e is nil.
func New(e Evaler, cfg Config) (*Store, error) {
	var wrong fields.Errors
	if f, ok := e.(EvalFunc); e == nil || ok && f == nil {
		wrong.Add("Evaler", nil, "must be given")
	}
	if err := wrong.Err("redisstore"); err != nil {
		return nil, err
	}
	if cfg.Prefix == "" {
		cfg.Prefix = "snowkey:"
	}
	return &Store{eval: e, cfg: cfg}, nil
}

// maxNumbers is as far as a script can count.
const maxNumbers = 1 << 53

func tooMany(numbers int64) error {
	var wrong fields.Errors
	wrong.Add("WorkerIDs", numbers, "must be at most 2^53, as far as Redis's scripts can count")
	return wrong.Err("redisstore")
}

// mostWait is how many milliseconds a Duration can say.
const mostWait = int64(math.MaxInt64 / time.Millisecond)

// key is a space's; what stands in braces decides where a cluster keeps it.
func (s *Store) key(kind, name string) string {
	if s == nil {
		return "" // run says what is wrong
	}
	return s.cfg.Prefix + kind + ":{" + name + "}"
}

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.eval == nil {
		return fields.Error("redisstore", "Store", nil, "must come from redisstore.New")
	}
	return nil
}

// Claim implements worker.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	if r.WorkerIDs > maxNumbers {
		return driver.Claim{}, tooMany(r.WorkerIDs)
	}
	if err := s.checkSync(ctx); err != nil {
		return driver.Claim{}, err
	}
	answer, err := s.run(ctx, "claim", durableScript+claimScript, s.key("worker", r.Namespace),
		bit(s.cfg.AllowDataLoss), r.Layout, r.WorkerIDs, r.Preferred, bit(r.RequirePreferred), r.Exclude, r.ClaimID, r.Owner, r.Now, r.FenceWindow, r.TTL, r.MaxSkew, r.MaxLead, int64(driver.NoTTL))
	if err != nil {
		return driver.Claim{}, err
	}
	switch {
	case answer.is("ok", 5):
		var n [4]int64
		if err := answer.numbers(n[:]); err != nil {
			return driver.Claim{}, err
		}
		return driver.Claim{Worker: n[0], FencingToken: n[1], From: n[2], Fence: n[3]}, nil
	case answer.is("none", 5):
		var n [4]int64
		if err := answer.numbers(n[:]); err != nil {
			return driver.Claim{}, err
		}
		return driver.Claim{}, &driver.NoWorkerIDError{Namespace: r.Namespace, WorkerIDs: n[0], Leased: n[1], Ahead: n[2], Wait: time.Duration(min(n[3], mostWait)) * time.Millisecond}
	case answer.is("skew", 2):
		var n [1]int64
		if err := answer.numbers(n[:]); err != nil {
			return driver.Claim{}, err
		}
		return driver.Claim{}, &driver.SkewError{Local: time.UnixMilli(r.Now), Store: time.UnixMilli(n[0]), Max: time.Duration(r.MaxSkew) * time.Millisecond}
	case answer.is("layout", 2):
		return driver.Claim{}, &driver.LayoutError{Namespace: r.Namespace, Have: answer[1], Want: r.Layout}
	case answer.is("lossy", 4):
		return driver.Claim{}, answer.lossy()
	}
	return driver.Claim{}, answer.unexpected("claim")
}

// checkSync looks at what the script cannot see.
func (s *Store) checkSync(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.cfg.AllowDataLoss || s.cfg.ConfigGet == nil {
		return nil
	}
	value, err := bounded.Do(ctx, &s.calls, "redisstore: CONFIG GET appendfsync", func() (string, error) {
		return s.cfg.ConfigGet(ctx, "appendfsync")
	})
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err == nil && value != "" && value != "always" { // else it may not be seen
		return &driver.DurabilityError{Setting: "appendfsync", Value: value, Want: "always"}
	}
	return nil
}

// Renew implements worker.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	return s.verb(ctx, "renew", renewScript, s.key("worker", r.Namespace), r.Worker, r.FencingToken, r.ClaimID, r.Fence, r.TTL, int64(driver.NoTTL))
}

// Release implements worker.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return s.verb(ctx, "release", releaseScript, s.key("worker", r.Namespace), r.Worker, r.FencingToken, r.ClaimID, r.Fence, "0")
}

// Free implements worker.Admin.
func (s *Store) Free(ctx context.Context, space string, number, epoch int64) error {
	if err := driver.CheckNamespace(space); err != nil {
		return err
	}
	return s.verb(ctx, "free", releaseScript, s.key("worker", space), number, epoch, "", 0, "1")
}

// verb is a script that answers with ok or taken.
func (s *Store) verb(ctx context.Context, what, script, key string, args ...any) error {
	answer, err := s.run(ctx, what, script, key, args...)
	switch {
	case err != nil:
		return err
	case answer.is("ok", 1):
		return nil
	case answer.is("taken", 1):
		return driver.ErrNotHeld
	}
	return answer.unexpected(what)
}

// List implements worker.Admin.
func (s *Store) List(ctx context.Context, space string) ([]driver.Record, error) {
	if err := driver.CheckNamespace(space); err != nil {
		return nil, err
	}
	all, err := s.run(ctx, "list", listScript, s.key("worker", space))
	if err != nil {
		return nil, err
	}
	var rows []driver.Record
	for i := 0; i+1 < len(all); i += 2 {
		if all[i] == "layout" {
			continue
		}
		parts := strings.SplitN(all[i+1], "\n", 5)
		if len(parts) != 5 {
			return nil, fmt.Errorf("redisstore: number %q of space %q is none of the store's: %q", all[i], space, all[i+1])
		}
		var n [4]int64
		if err := (reply{"", all[i], parts[0], parts[2], parts[3]}).numbers(n[:]); err != nil {
			return nil, err
		}
		rows = append(rows, driver.Record{Worker: n[0], FencingToken: n[1], ClaimID: parts[1], Owner: parts[4], Fence: n[2], Expires: n[3]})
	}
	slices.SortFunc(rows, func(a, b driver.Record) int { return int(a.Worker - b.Worker) })
	return rows, nil
}

// Count implements driver.Counter, and refuses what Claim refuses. Nothing lowers the
// counter but you.
func (s *Store) Count(ctx context.Context, name string) (int64, error) {
	if err := driver.CheckNamespace(name); err != nil {
		return 0, err
	}
	if err := s.checkSync(ctx); err != nil {
		return 0, err
	}
	answer, err := s.run(ctx, "count", durableScript+countScript, s.key("counter", name), bit(s.cfg.AllowDataLoss))
	if err != nil {
		return 0, err
	}
	var n [1]int64
	switch {
	case answer.is("lossy", 4):
		return 0, answer.lossy()
	case !answer.is("ok", 2):
		return 0, answer.unexpected("count")
	}
	if err := answer.numbers(n[:]); err != nil {
		return 0, err
	}
	return n[0], nil
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
