package backfill

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// window is the FenceWindow of a namespace that the backfill makes, in milliseconds: that of
// worker.Config.
const window = 30_000

// claim takes a worker ID that no generator has used, and returns the time before which the
// backfill may issue ids with it.
//
// It claims a worker ID that has no record. The fencing token of the first claim is its start, and
// those of later ones are higher: so no generator of the namespace has issued ids with the worker ID.
// Then it releases the worker ID with the start of the claim as the fence: later holders start there.
// If the release fails, the worker ID expires, with a later fence.
func (j *job) claim(ctx context.Context) (worker int64, before time.Time, err error) {
	l := j.cfg.Layout
	now := j.cfg.Now()
	if !now.Before(l.End()) {
		return 0, time.Time{}, fmt.Errorf("backfill: %w: it ended at %s", core.ErrTimestampExhausted, show(l.End()))
	}
	if j.cfg.Worker != nil {
		return *j.cfg.Worker, now, nil
	}
	st, err := j.cfg.Store.(driver.Admin).List(ctx, j.cfg.Namespace) //nolint:forcetypeassert // check has seen it
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("backfill: list the worker IDs of namespace %q: %w", j.cfg.Namespace, err)
	}
	known := make(map[int64]bool, len(st.Records))
	for _, rec := range st.Records {
		known[rec.Worker] = true
	}
	for worker := l.WorkerIDs() - 1; worker >= 0; worker-- { // leases take low ones first
		if known[worker] {
			continue
		}
		got, err := j.claimOne(ctx, worker, cmp.Or(st.Namespace.FenceWindow, window))
		var taken *driver.NoWorkerIDError
		switch {
		case errors.As(err, &taken): // meanwhile
			continue
		case err != nil:
			return 0, time.Time{}, fmt.Errorf("backfill: claim a worker ID of namespace %q: %w", j.cfg.Namespace, err)
		case got.FencingToken == got.Start: // and the store's floor may be ahead
			return got.Worker, time.UnixMilli(min(got.Start, j.cfg.Now().UnixMilli())), nil
		}
	}
	return 0, time.Time{}, fmt.Errorf("backfill: each of the %d worker IDs of namespace %q was leased before, so ids with past times may exist: %w", l.WorkerIDs(), j.cfg.Namespace, driver.ErrNoWorkerID)
}

// claimOne claims one worker ID, and releases it.
func (j *job) claimOne(ctx context.Context, worker, window int64) (driver.Lease, error) {
	c := driver.Claim{
		Namespace: j.cfg.Namespace, Layout: driver.Fingerprint(j.cfg.Layout), WorkerIDs: j.cfg.Layout.WorkerIDs(),
		Preferred: worker, RequirePreferred: true, Exclude: -1, ClaimID: rand.Text(), Owner: owner(j.stateName()),
		Now: j.cfg.Now().UnixMilli(), FenceWindow: window,
	}
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	got, err := j.cfg.Store.Claim(ctx, c)
	if err != nil {
		return driver.Lease{}, err
	}
	if err := c.CheckLease(got); err != nil {
		return driver.Lease{}, err
	}
	// It may fail: see claim.
	_ = j.cfg.Store.Release(ctx, driver.Release{Namespace: c.Namespace, Worker: got.Worker, FencingToken: got.FencingToken, ClaimID: c.ClaimID, Unused: got.Start})
	return got, nil
}

// owner names the backfill in the store, in ASCII.
func owner(name string) string {
	const most = 200
	text := "backfill of " + strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	return text[:min(len(text), most)]
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
	n, err := j.db.count(ctx, "SELECT count(*) FROM "+j.table.of(j.db)+" WHERE "+
		fmt.Sprintf("%s > 0 AND ((%s >> %d) & %d) = %d", id, id, shift, l.WorkerIDs()-1, worker))
	switch {
	case err != nil:
		return fmt.Errorf("backfill: look for ids with the worker ID %d in %s: %w", worker, j.table, err)
	case n > 0:
		return fmt.Errorf("backfill: %s.%s already has %d ids with the worker ID %d, from a generator without a lease in namespace %q: choose another worker ID", j.table, j.into.to, n, worker, j.cfg.Namespace)
	}
	return nil
}
