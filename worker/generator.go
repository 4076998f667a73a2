package worker

import (
	"context"
	"errors"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A Generator issues ids under a worker ID that it leases from a store, and renews the lease
// until Close. Make it with [Open], or with the Open of a store's package. It is a
// sqltype.Source. All methods are safe for concurrent use. The zero value and nil are closed.
//
// If another holder takes the worker ID, ids continue under it up to its fence at most. Meanwhile
// the generator claims another worker ID, and then continues under that one. A program that must
// end instead calls Close when its observer gets [Lost] or [Forgotten].
type Generator struct {
	ids   *core.Generator
	lease *lease
}

// Open claims a worker ID of cfg.Namespace in the store, and returns a generator that issues ids
// under it. ctx only limits the claim: if it ends first, the error wraps the context's error and
// the last failure. If Open fails, nothing stays leased.
//
// No two generators of a namespace ever issue the same id, despite wrong clocks, pauses, crashes,
// lost answers and takeovers. The package comment lists the conditions.
//
// The errors are a [*core.ConfigError] with all invalid fields, [*NoWorkerIDError],
// [*FloorError], [*SkewError], [*LayoutError], [*WindowError], core.ErrTimestampExhausted, and the
// store's own. While no worker ID is free, or the store fails with an error that may be temporary,
// Open retries for Config.ClaimWait. It returns any other error, such as a wrong password, at once.
//
// All leases that share s share one limit on requests while the store fails. So a process with
// many leases should make one store, with New of the store's package; its Open makes a new store
// each time.
func Open(ctx context.Context, s driver.Store, cfg Config) (*Generator, error) {
	l, err := newLease(s, cfg)
	if err != nil {
		if c, ok := s.(driver.OwnedStore); ok && !fields.IsNil(s) {
			err = errors.Join(err, c.CloseWithGenerator())
		}
		return nil, err
	}
	if err := l.acquire(ctx); err != nil {
		return nil, err
	}
	cfg.Namespace = l.cfg.Namespace
	ids, err := core.New(cfg.generator(l))
	if err != nil {
		return nil, errors.Join(err, l.Release(context.Background()), l.closeStore())
	}
	return &Generator{ids: ids, lease: l}, nil
}

// opened reports whether the generator comes from Open.
func (g *Generator) opened() bool { return g != nil && g.lease != nil }

// Next issues one id; see [core.Generator.Next].
func (g *Generator) Next(ctx context.Context) (int64, error) {
	if !g.opened() {
		return 0, core.ErrClosed
	}
	return g.ids.Next(ctx)
}

// Fill issues len(ids) ids in ascending order, or none; see [core.Generator.Fill].
func (g *Generator) Fill(ctx context.Context, ids []int64) error {
	if !g.opened() {
		return core.ErrClosed
	}
	return g.ids.Fill(ctx, ids)
}

// Layout returns the layout of the ids, with its defaults filled in.
func (g *Generator) Layout() core.Layout {
	if !g.opened() {
		return core.Layout{}
	}
	return g.lease.cfg.Layout
}

// Worker returns the worker ID that ids are issued under: datacenter<<WorkerBits | worker. It
// changes when the worker ID is lost, or replaced by core.Rotate. It is -1 for a Generator that
// does not come from Open.
func (g *Generator) Worker() int64 {
	if !g.opened() {
		return noWorkerID
	}
	return g.lease.Stats().Worker
}

// Stats returns a snapshot, without a request to the store. It is zero for a Generator that
// does not come from Open.
func (g *Generator) Stats() Stats {
	if !g.opened() {
		return Stats{}
	}
	st, ids := g.lease.Stats(), g.ids.Stats()
	ids.Worker, ids.FenceLeft = st.Worker, st.FenceLeft // the lease knows more about both
	st.Stats = ids
	return st
}

// Failing returns nil while nothing fails. While requests to the store fail, it returns a
// [*RetryError] that says which, why and since when; ids continue for Stats.FenceLeft. After Close it
// returns core.ErrClosed.
func (g *Generator) Failing() error {
	if !g.opened() {
		return core.ErrClosed
	}
	l := g.lease
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state >= releasing {
		return core.ErrClosed
	}
	return l.failing()
}

// Close ends the generator, and then releases the worker ID with its unused time, so that another
// generator can claim it at once and begin right above the last id. Calls that wait, and all later
// ones, return core.ErrClosed. No id is issued after Close has returned, even with an error.
//
// While the store fails with an error that may be temporary, Close retries until ctx is done, for
// at most Config.ClaimWait. So pass a context that is not done, even during a shutdown, such as
// context.Background(). If the store still fails, Close returns its error; others can claim the
// worker ID when its fence has passed by MaxSkew. Call Close again to try again. After a success
// or a loss, it returns nil.
//
// When Close returns, the observer has received all events, unless ctx is done or the observer
// takes longer than a second.
func (g *Generator) Close(ctx context.Context) error {
	if !g.opened() {
		return nil
	}
	g.ids.Close()
	if err := g.lease.Release(ctx); err != nil {
		return err
	}
	return g.lease.closeStore()
}
