package backfill

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// claim takes a worker ID that no generator has used, and returns the time before which the
// backfill may issue ids with it.
//
// Claim.NeverHeld proves that this is the first claim of the worker ID, unless the store has forgotten
// some: see listed. So no generator of the namespace has issued ids with it, and no other run of a
// backfill. Then the backfill releases it with the start of the lease as the fence: later holders start
// there. If the release fails, the lease expires, with a later fence.
func (j *job) claim(ctx context.Context) (worker int64, before time.Time, err error) {
	l := j.cfg.Layout
	now := j.cfg.Now()
	if !now.Before(l.End()) {
		return 0, time.Time{}, fmt.Errorf("backfill: %w: it ended at %s", core.ErrTimestampExhausted, show(l.End()))
	}
	st, err := j.listed(ctx)
	if err != nil {
		return 0, time.Time{}, err
	}
	first, last := l.WorkerIDs()-1, int64(0) // leases take low ones first
	if w := j.cfg.Worker; w != nil {
		first, last = *w, *w
	}
	for worker := first; worker >= last; worker-- {
		if slices.ContainsFunc(st.Records, func(rec driver.Record) bool { return rec.Worker == worker }) {
			continue
		}
		lease, err := j.claimOne(ctx, worker, st.Namespace)
		switch {
		case errors.Is(err, driver.ErrNoWorkerID): // it was claimed meanwhile
			continue
		case err != nil:
			return 0, time.Time{}, fmt.Errorf("backfill: claim a worker ID of namespace %q: %w", j.cfg.Namespace, err)
		}
		_, err = j.listed(ctx)                                                      // the store may have forgotten meanwhile
		return lease.Worker, time.UnixMilli(min(lease.Start, now.UnixMilli())), err // it starts at the floor
	}
	return 0, time.Time{}, fmt.Errorf("backfill: the worker IDs %d to %d of namespace %q were leased before, "+
		"so ids with past times may exist: %w: set Worker to one that no generator and no backfill has used, "+
		"in another Namespace if all were leased in this one", last, first, j.cfg.Namespace, driver.ErrNoWorkerID)
}

// defaultWindow is the FenceWindow of worker.Config, which a namespace gets that the backfill is the
// first to use.
const defaultWindow = 30_000

// listed lists the worker IDs that were ever held. Unless Worker is set, it fails if the store may have
// forgotten some, which claims from before the floor show. A namespace that began with a floor, because
// the database had other tables, has no such claims.
func (j *job) listed(ctx context.Context) (driver.State, error) {
	st, err := j.cfg.Store.(driver.Admin).List(ctx, j.cfg.Namespace) //nolint:forcetypeassert // check has seen it
	if err != nil {
		return st, fmt.Errorf("backfill: list the worker IDs of namespace %q: %w", j.cfg.Namespace, err)
	}
	for _, rec := range st.Records {
		if j.cfg.Worker == nil && (st.Missing || st.Forgot() || rec.Start < st.Namespace.Floor) {
			return st, fmt.Errorf("backfill: which worker IDs of namespace %q were ever used is not known, "+
				"because its store may have lost records, in a crash, a failover or a restore: "+
				"set Worker to one that no generator has used", j.cfg.Namespace)
		}
	}
	return st, nil
}

// claimOne claims one worker ID, and releases it.
func (j *job) claimOne(ctx context.Context, worker int64, ns driver.Namespace) (driver.Lease, error) {
	const longest = 200
	owner := "backfill of " + strconv.QuoteToASCII(j.table.String()+"."+j.into.to)
	c := driver.Claim{
		Namespace: j.cfg.Namespace, Layout: driver.Fingerprint(j.cfg.Layout), WorkerIDs: j.cfg.Layout.WorkerIDs(),
		Preferred: worker, RequirePreferred: true, NeverHeld: true, Exclude: -1, ClaimID: rand.Text(),
		Owner: owner[:min(len(owner), longest)],
		Now:   j.cfg.Now().UnixMilli(), FenceWindow: cmp.Or(ns.FenceWindow, defaultWindow), MaxSkew: ns.MaxSkew,
	}
	lease, err := j.cfg.Store.Claim(ctx, c)
	if err != nil {
		return driver.Lease{}, err
	}
	if err := c.CheckLease(lease); err != nil {
		return driver.Lease{}, err
	}
	// It may fail: see claim.
	_ = j.cfg.Store.Release(ctx, driver.Release{
		Namespace: c.Namespace, Worker: lease.Worker, FencingToken: lease.FencingToken, ClaimID: c.ClaimID,
		Unused: lease.Start,
	})
	return lease, nil
}

// conflict returns an error if a row already has an id with the worker ID: then a generator has
// used it.
func (j *job) conflict(ctx context.Context, worker int64) error {
	l := j.cfg.Layout
	shift := l.SequenceBits
	if l.SequenceFirst {
		shift = 0
	}
	id := j.db.quote(j.into.to)
	n, err := j.db.count(ctx, fmt.Sprintf("look for ids with the worker ID %d in %s", worker, j.table),
		"SELECT count(*) FROM "+j.table.of(j.db)+" WHERE "+
			fmt.Sprintf("%s > 0 AND ((%s >> %d) & %d) = %d", id, id, shift, l.WorkerIDs()-1, worker))
	if n > 0 {
		return fmt.Errorf("backfill: %s.%s already has %d ids with the worker ID %d, from a generator without a lease "+
			"in namespace %q: choose another worker ID", j.table, j.into.to, n, worker, j.cfg.Namespace)
	}
	return err
}
