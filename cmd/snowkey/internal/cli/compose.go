package cli

import (
	"context"
	"errors"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// compose prints the IDs of gen --at: those of one tick, counted up from a sequence. The API
// composes by the same rules.
func (a *app) compose(ctx context.Context, g *gen) error {
	switch {
	case g.lease.text != "":
		return usage("--at composes IDs without a lease: it excludes --lease")
	case g.notBefore != "":
		return usage("--at and --not-before: give one of them")
	}
	at, err := timetext.Parse(g.at, a.now(), time.UTC)
	if err != nil {
		return wrong("--at", g.at, err)
	}
	g.worker, g.sequence = max(g.worker, 0), max(g.sequence, 0)
	worker, err := g.workerID()
	if err != nil {
		return err
	}
	perTick := g.layout.IDsPerTick()
	if g.sequence >= perTick {
		return usage("--sequence %d: must be 0 to %d in this layout", g.sequence, perTick-1)
	}
	if left := perTick - g.sequence; g.count > left {
		return usage("--count %d: must be at most %d: a tick has the sequences 0 to %d, and these start at %d", g.count, left, perTick-1, g.sequence)
	}
	next := g.sequence
	fill := func(_ context.Context, ids []int64) error {
		next += int64(len(ids))
		return describe.Compose(g.layout, worker, at, next-int64(len(ids)), ids)
	}
	var first [1]int64
	if err := fill(ctx, first[:]); err != nil {
		var outside *core.RangeError
		if errors.As(err, &outside) {
			return wrong("--at", g.at, outsideLayout(err))
		}
		return err
	}
	next = g.sequence
	a.note("%s composed for %s, not generated: for bounds and test data", a.errStyle.warn("snowkey gen:"), timetext.Format(tickOf(g.layout, first[0])))
	return a.genAll(ctx, g, fill)
}

// tickOf is the time that an ID shows.
func tickOf(l core.Layout, id int64) time.Time {
	parts, _ := l.Decode(id) // it was composed in this layout
	return parts.Time
}
