package etcdstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures New. The zero value is ready for use.
type Config struct {
	// Prefix begins all keys: at most 255 printable ASCII characters, without space and '#'.
	// Zero: "snowkey".
	Prefix string
	// Clock is the clock of the store. It is called by each request, which fails if it does, and
	// must return when ctx is done. Nil: the clock of this process, so the clocks of all programs
	// must be right, which nothing checks. See [HTTPClock].
	Clock func(ctx context.Context) (time.Time, error)
}

// A Store keeps the records of any number of namespaces. Make it with New; every method of a
// nil or zero Store returns a *core.ConfigError. It does not close the client. All methods are
// safe for concurrent use.
type Store struct {
	client  *clientv3.Client
	prefix  string
	clock   func(ctx context.Context) (time.Time, error)
	limiter driver.Limiter
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
		wrong = append(wrong, core.FieldError{Field: "Prefix", Value: fmt.Sprintf("%.100q", cfg.Prefix),
			Reason: "must be at most 255 printable ASCII characters, without space and '#'"})
	}
	if wrong != nil {
		return nil, configError(wrong...)
	}
	return &Store{client: client, prefix: cfg.Prefix, clock: cfg.Clock}, nil
}

func configError(wrong ...core.FieldError) error {
	return &core.ConfigError{Package: "etcdstore", Fields: wrong}
}

// begin starts each method. It returns an error unless New made the store.
func (s *Store) begin(ctx context.Context, namespace string) error {
	if s == nil || s.client == nil {
		return configError(core.FieldError{Field: "Store", Value: "nil", Reason: "must come from etcdstore.New"})
	}
	if err := driver.CheckNamespace(namespace); err != nil {
		return err
	}
	return ctx.Err()
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	if err := s.begin(ctx, c.Namespace); err != nil {
		return driver.Lease{}, err
	}
	what, lease := fmt.Sprintf("claim in namespace %q", c.Namespace), etcdLease{store: s}
	var v *view
	l, err := driver.Transact(ctx, c.Decide, func(ctx context.Context, _ bool) (st driver.State, err error) {
		if v, err = s.read(ctx, what, c.Namespace, all, ""); err != nil {
			return st, err
		}
		st = v.State
		st.Records = slices.Clone(v.Records)
		for i, rec := range st.Records {
			// The fence has passed by this clock, which may be fast, and not by etcd's.
			if rec.Status == driver.Held && !rec.IsHeld(st.Now, st.Namespace.MaxSkew) && v.present[s.presenceKey(c.Namespace, rec.ClaimID)] != nil {
				st.Records[i].Status = driver.Kept
			}
		}
		return st, nil
	}, func(ctx context.Context, _ driver.State, ch driver.Change) (bool, error) {
		switch {
		case ch.Make != nil:
			return s.makeRecords(ctx, what, v, *ch.Make, c.WorkerIDs)
		case ch.Namespace != nil:
			return s.put(ctx, what, v, *ch.Namespace)
		}
		return s.putClaim(ctx, what, v, c, *ch.Record, &lease)
	})
	if err != nil {
		lease.revoke(ctx)
	}
	return l, err
}

// putClaim writes the record of a claim. Its holder must not have come back, and the claim must not
// have got another worker ID by a request that was late.
func (s *Store) putClaim(ctx context.Context, what string, v *view, c driver.Claim, rec driver.Record, lease *etcdLease) (written bool, err error) {
	presence := s.presenceKey(c.Namespace, c.ClaimID)
	put, ok, err := lease.put(ctx, v, presence, c.FenceWindow+v.Namespace.MaxSkew)
	if err != nil || !ok {
		return false, err
	}
	compare, ops := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(presence), "=", 0)}, []clientv3.Op{put}
	for _, old := range v.Records {
		if old.Worker != rec.Worker || old.Status != driver.Held {
			continue
		}
		if before := s.presenceKey(c.Namespace, old.ClaimID); old.ClaimID == c.Former.ClaimID {
			ops = append(ops, clientv3.OpDelete(before))
		} else {
			compare = append(compare, clientv3.Compare(clientv3.CreateRevision(before), "=", 0))
		}
	}
	written, err = s.putRecord(ctx, what, v, rec, compare, ops...)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		lease.id, err = 0, nil
	}
	return written, err
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	if err := s.begin(ctx, r.Namespace); err != nil {
		return driver.Lease{}, err
	}
	what, lease := fmt.Sprintf("renew worker ID %d of namespace %q", r.Worker, r.Namespace), etcdLease{store: s}
	presence := s.presenceKey(r.Namespace, r.ClaimID)
	var v *view
	return driver.Transact(ctx, r.Decide, func(ctx context.Context, _ bool) (st driver.State, err error) {
		if v, err = s.read(ctx, what, r.Namespace, max(r.Worker, 0), r.ClaimID); err != nil {
			return st, err
		}
		return v.State, nil
	}, func(ctx context.Context, _ driver.State, ch driver.Change) (bool, error) {
		if ch.Namespace != nil {
			return s.put(ctx, what, v, *ch.Namespace)
		}
		op, ok, err := clientv3.OpDelete(presence), true, error(nil)
		if ch.Record.Status == driver.Held {
			op, ok, err = lease.keepAlive(ctx, v, presence, r.FenceWindow+v.Namespace.MaxSkew)
		}
		if err != nil || !ok {
			return false, err
		}
		written, err := s.putRecord(ctx, what, v, *ch.Record, nil, op)
		if errors.Is(err, errAnother) {
			err = fmt.Errorf("%w: %w", driver.ErrForgotten, err)
		}
		return written, err
	})
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Release) error {
	return s.change(ctx, "release", r.Namespace, r.Worker, r.Decide)
}

// change changes a record, which nobody holds from then on.
func (s *Store) change(ctx context.Context, verb, namespace string, workerID int64, decide func(driver.Record) (driver.Record, error)) error {
	if err := s.begin(ctx, namespace); err != nil {
		return err
	}
	what := fmt.Sprintf("%s worker ID %d of namespace %q", verb, workerID, namespace)
	return driver.Retry(ctx, func() (bool, error) {
		v, err := s.read(ctx, what, namespace, max(workerID, 0), "")
		if err == nil && (len(v.Records) == 0 || v.Records[0].Worker != workerID) {
			err = driver.ErrNotHeld
		}
		if err != nil {
			return false, err
		}
		rec, err := decide(v.Records[0])
		if err != nil {
			return false, err
		}
		return s.putRecord(ctx, what, v, rec, nil, clientv3.OpDelete(s.presenceKey(namespace, rec.ClaimID)))
	})
}
