package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/backoff"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// Config is what a store is made of; the zero value is ready for use.
type Config struct {
	// Prefix of the keys: at most 255 printable bytes of ASCII, without space and
	// '#'. Zero: "snowkey".
	Prefix string
	// Clock tells the time of day, with which a claimant's clock is compared. It is
	// asked once for each claim, and its error fails the claim. nil: the clock of this
	// process, so that no difference is seen. See HTTPClock.
	Clock func(ctx context.Context) (time.Time, error)
}

// Store keeps the numbers of any number of spaces. Make it with New. It does not
// close the client.
type Store struct {
	driver.ClaimLimiter // of the leases that share the store

	client *clientv3.Client
	prefix string
	clock  func(ctx context.Context) (time.Time, error) // nil: none
	calls  bounded.Calls                                // of the clock; etcd's client heeds contexts
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError. It sends nothing.
func New(client *clientv3.Client, cfg Config) (*Store, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = "snowkey"
	}
	var faults []core.FieldError
	if client == nil {
		faults = append(faults, core.FieldError{Field: "client", Value: "nil", Reason: "must be an open *clientv3.Client"})
	}
	if !validPrefix(cfg.Prefix) {
		faults = append(faults, core.FieldError{Field: "Prefix", Value: fmt.Sprintf("%.100q", cfg.Prefix), Reason: "must be at most 255 printable ASCII characters, without space and '#'"})
	}
	if faults != nil {
		return nil, &core.ConfigError{Package: "etcdstore", Fields: faults}
	}
	return &Store{client: client, prefix: cfg.Prefix, clock: cfg.Clock}, nil
}

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.client == nil {
		return &core.ConfigError{Package: "etcdstore", Fields: []core.FieldError{{Field: "Store", Value: "nil", Reason: "must come from etcdstore.New"}}}
	}
	return nil
}

// begin is how each method begins. A client that reaches no member waits longer each
// time before it tries again, up to two minutes. A lease asks every half second, and
// needs the answer as soon as there is one.
func (s *Store) begin(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	if conn := s.client.ActiveConnection(); conn != nil {
		conn.ResetConnectBackoff()
	}
	return ctx.Err()
}

// maxRaces is how often a key may be found changed by another client.
const maxRaces = 200

// repeat calls try until it is ok or fails. It is not ok when somebody else
// was faster, in which case nothing was written.
func repeat(ctx context.Context, try func() (ok bool, err error)) error {
	races := 0
	return backoff.Backoff{Min: 2 * time.Millisecond, Max: 20 * time.Millisecond}.Retry(ctx, func() (done bool, err error) {
		if ok, err := try(); ok || err != nil {
			return true, err
		}
		if races++; races == maxRaces {
			return false, fmt.Errorf("etcdstore: the key was changed by others %d times", races)
		}
		return false, nil
	})
}

// Claim implements worker.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	if err := s.begin(ctx); err != nil {
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
	life := lifetime{store: s, ttl: r.TTL}
	var c driver.Claim
	var shuffle func(int, func(i, j int)) // only those who have met need to get out of each other's way
	err = repeat(ctx, func() (ok bool, err error) {
		c, ok, err = s.claimOnce(ctx, r, now, &life, shuffle)
		shuffle = rand.Shuffle
		return ok, err
	})
	if err != nil {
		return driver.Claim{}, err
	}
	return c, nil
}

// claimOnce reads the space and tries one number; it is not ok if that has
// changed meanwhile, or the token has got a number.
func (s *Store) claimOnce(ctx context.Context, r driver.Request, now int64, life *lifetime, shuffle func(int, func(i, j int))) (c driver.Claim, ok bool, err error) {
	sp, err := s.read(ctx, r.Namespace)
	if err != nil {
		return c, false, err
	}
	if sp.layout != nil && *sp.layout != r.Layout {
		life.giveUp(ctx)
		return c, false, &driver.LayoutError{Namespace: r.Namespace, Have: *sp.layout, Want: r.Layout}
	}
	rows := sp.list(now)
	for _, row := range rows {
		if row.ClaimID == r.ClaimID {
			life.giveUp(ctx)
			return r.Replay(row), true, nil
		}
	}
	free, err := driver.Candidates(r, rows, now, shuffle)
	if errors.Is(err, driver.ErrNoWorkerID) {
		life.giveUp(ctx)
		sp.soonest(ctx, s, now)
		_, err = driver.Candidates(r, sp.list(now), now, nil) // which tells how long to wait
		if err == nil {
			return c, false, nil // one has come free meanwhile
		}
	}
	if err != nil {
		return c, false, err
	}
	row := free[0]
	from, until := r.Interval(row.Fence)
	claimed := record{Epoch: row.FencingToken + 1, Token: r.ClaimID, Owner: r.Owner, Until: until}
	put, err := life.put(ctx, s.aliveKey(r.Namespace, r.ClaimID))
	if err != nil {
		return c, false, err
	}
	// The number must be as it was read and its holder not have come back, and
	// the token not have got another number by a request that was late.
	key := s.rowKey(r.Namespace, row.Worker)
	compare := []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(key), "=", sp.revision[row.Worker]),
		clientv3.Compare(clientv3.CreateRevision(s.aliveKey(r.Namespace, r.ClaimID)), "=", 0),
	}
	if row.ClaimID != "" {
		compare = append(compare, clientv3.Compare(clientv3.CreateRevision(s.aliveKey(r.Namespace, row.ClaimID)), "=", 0))
	}
	then := []clientv3.Op{clientv3.OpPut(key, claimed.String()), put}
	if sp.layout == nil {
		compare = append(compare, clientv3.Compare(clientv3.CreateRevision(s.layoutKey(r.Namespace)), "=", 0))
		then = append(then, clientv3.OpPut(s.layoutKey(r.Namespace), r.Layout))
	} else {
		compare = append(compare, clientv3.Compare(clientv3.Value(s.layoutKey(r.Namespace)), "=", r.Layout))
	}
	answer, err := s.client.Txn(ctx).If(compare...).Then(then...).Commit()
	if err != nil {
		return c, false, s.failed(ctx, fmt.Sprintf("claim number %d of space %q", row.Worker, r.Namespace), err)
	}
	return driver.Claim{Worker: row.Worker, FencingToken: claimed.Epoch, From: from, Fence: until}, answer.Succeeded, nil
}

// Renew implements worker.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	what := fmt.Sprintf("renew number %d of space %q", r.Worker, r.Namespace)
	life := lifetime{store: s, ttl: r.TTL}
	return s.change(ctx, what, r.Namespace, r.Worker, r.FencingToken, r.ClaimID, func(held *row) (clientv3.Op, error) {
		held.Until = max(held.Until, r.Fence)
		return life.goOn(ctx, s.aliveKey(r.Namespace, r.ClaimID), held.alive)
	})
}

// Release implements worker.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	what := fmt.Sprintf("release number %d of space %q", r.Worker, r.Namespace)
	return s.change(ctx, what, r.Namespace, r.Worker, r.FencingToken, r.ClaimID, func(held *row) (clientv3.Op, error) {
		held.Token, held.Until = "", r.Fence
		return clientv3.OpDelete(s.aliveKey(r.Namespace, r.ClaimID)), nil
	})
}

// change writes what modify makes of a number's record, and does what it returns
// with it, if the record has this epoch and token and is as it was read.
func (s *Store) change(ctx context.Context, what, space string, number, epoch int64, token string, modify func(*row) (clientv3.Op, error)) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	if token == "" || driver.CheckNamespace(space) != nil {
		return driver.ErrNotHeld
	}
	key, alive := s.rowKey(space, number), s.aliveKey(space, token)
	return repeat(ctx, func() (bool, error) {
		read, err := second(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
			return s.client.Txn(ctx).Then(clientv3.OpGet(key), clientv3.OpGet(alive)).Commit()
		})
		if err != nil {
			return false, s.failed(ctx, what, err)
		}
		found := read.Responses[0].GetResponseRange().Kvs
		if len(found) == 0 {
			return false, driver.ErrNotHeld
		}
		held := row{revision: found[0].ModRevision}
		if held.record, err = parseRecord(found[0]); err != nil {
			return false, err
		}
		if held.Epoch != epoch || held.Token != token {
			return false, driver.ErrNotHeld
		}
		if there := read.Responses[1].GetResponseRange().Kvs; len(there) > 0 {
			held.alive = there[0]
		}
		also, err := modify(&held)
		if err != nil {
			return false, err
		}
		written, err := second(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
			return s.client.Txn(ctx).
				If(clientv3.Compare(clientv3.ModRevision(key), "=", held.revision)).
				Then(clientv3.OpPut(key, held.String()), also).
				Commit()
		})
		if err != nil {
			return false, s.failed(ctx, what, err)
		}
		return written.Succeeded, nil
	})
}
