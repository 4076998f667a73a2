package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// generators holds one generator for each pair of layout and worker ID that was asked
// for. None is ever dropped, because a second generator of a pair could repeat what the
// first has issued. So their number is bounded, and further pairs are refused.
type generators struct {
	limit    int
	patience time.Duration // how long one request may wait for free slots

	mu  sync.Mutex
	all map[pair]*core.Generator
}

// A pair identifies the IDs that a generator can issue. Layouts whose IDs are the same
// numbers share it: it does not matter where the worker ID is split into datacenter and
// worker, whether the zeros above it are a rollback field, or how wide the time is.
type pair struct {
	epoch, tick             int64 // in milliseconds
	rollback, workers, seqs uint8 // widths
	sequenceFirst           bool
	worker                  int64
}

func pairOf(l core.Layout, worker int64) pair {
	p := pair{
		epoch: l.Epoch.UnixMilli(), tick: int64(l.Tick / time.Millisecond),
		rollback: l.RollbackBits, workers: l.DatacenterBits + l.WorkerBits, seqs: l.SequenceBits, worker: worker,
	}
	p.sequenceFirst = l.SequenceFirst && p.workers > 0 && p.seqs > 0 // otherwise there is no order
	if !p.sequenceFirst {                                            // these generators do not use it
		p.workers, p.rollback = p.workers+p.rollback, 0
	}
	return p
}

// widest returns the layout of the pair with the widest time, which serves all others.
func (p pair) widest() core.Layout {
	l := core.Layout{
		Epoch: time.UnixMilli(p.epoch), Tick: time.Duration(p.tick) * time.Millisecond, Unsigned: true,
		RollbackBits: p.rollback, WorkerBits: p.workers, SequenceBits: p.seqs, SequenceFirst: p.sequenceFirst,
	}
	for l.TimeBits = 64 - p.rollback - p.workers - p.seqs; l.TimeBits > 1 && l.Validate() != nil; {
		l.TimeBits--
	}
	return l
}

func newGenerators(limit int, patience time.Duration) *generators {
	return &generators{limit: limit, patience: patience, all: map[pair]*core.Generator{}}
}

// of returns the generator for a layout and a worker ID.
func (g *generators) of(l core.Layout, worker int64) (*core.Generator, error) {
	p := pairOf(l, worker)
	g.mu.Lock()
	defer g.mu.Unlock()
	if gen := g.all[p]; gen != nil {
		return gen, nil
	}
	if len(g.all) >= g.limit {
		return nil, refuse(http.StatusServiceUnavailable, "worker", quote(worker), fmt.Sprintf(
			"this server has generated IDs for %d pairs of layout and worker ID and accepts no more until it is restarted", g.limit))
	}
	gen, err := core.New(core.Config{Layout: p.widest(), Worker: core.Fixed(worker)})
	if err != nil {
		var config *core.ConfigError
		if errors.As(err, &config) { // an epoch in the future
			f := config.Fields[0]
			return nil, refuse(http.StatusBadRequest, apiNames.Replace(f.Field), f.Value, f.Reason)
		}
		return nil, err
	}
	g.all[p] = gen
	return gen, nil
}

// fill generates IDs: all of them fit the layout, or none is returned.
func (g *generators) fill(ctx context.Context, l core.Layout, worker int64, ids []int64) error {
	if end := l.End(); !time.Now().Before(end) {
		return refuse(http.StatusBadRequest, "time_bits", quote(l.TimeBits), "are exhausted: the layout ended at "+timetext.Format(end))
	}
	gen, err := g.of(l, worker)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, g.patience)
	defer cancel()
	switch err := gen.Fill(ctx, ids); {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, core.ErrSequenceExhausted):
		return refuse(http.StatusServiceUnavailable, "worker", quote(worker), fmt.Sprintf(
			"cannot issue %d IDs within %v: a tick of %v holds %d, and a new generator starts with the next tick", len(ids), g.patience, l.Tick, l.IDsPerTick()))
	default:
		return err
	}
	for _, id := range ids {
		if _, err := l.Decode(id); err != nil {
			return refuse(http.StatusBadRequest, "time_bits", quote(l.TimeBits), "are exhausted: "+err.Error())
		}
	}
	return nil
}
