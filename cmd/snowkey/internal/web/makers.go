package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// makers holds one generator for each pair of layout and worker number that ids were
// made for. None is ever let go, since a second one of the same pair might repeat what
// the first has issued; so their number is bounded, and beyond it new pairs are refused.
type makers struct {
	most     int
	patience time.Duration // how long one request may wait for places in time

	mu  sync.Mutex
	all map[pair]*core.Generator
}

// A pair says which ids there can be. Layouts whose ids are the same numbers have the
// same pair, however they are written: it matters neither where the worker number is
// parted into datacenter and worker, nor whether the zeros above it are a roll-back
// field, nor how many bits of time stand above.
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
	p.sequenceFirst = l.SequenceFirst && p.workers > 0 && p.seqs > 0 // else there is nothing to be first
	if !p.sequenceFirst {                                            // these generators never use it
		p.workers, p.rollback = p.workers+p.rollback, 0
	}
	return p
}

// widest is a layout with the pair's ids and as much time as it can have, so that it
// serves all layouts of the pair.
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

func newMakers(most int, patience time.Duration) *makers {
	if patience == 0 {
		patience = 2 * time.Second
	}
	return &makers{most: most, patience: patience, all: map[pair]*core.Generator{}}
}

// of is the generator of a layout and a worker number.
func (m *makers) of(l core.Layout, worker int64) (*core.Generator, error) {
	p := pairOf(l, worker)
	m.mu.Lock()
	defer m.mu.Unlock()
	if gen := m.all[p]; gen != nil {
		return gen, nil
	}
	if len(m.all) >= m.most {
		return nil, refuse(http.StatusServiceUnavailable, "worker", quote(worker), fmt.Sprintf(
			"this server has made ids for %d pairs of layout and worker number, remembers them all, and takes no new one before it is restarted", m.most))
	}
	gen, err := core.New(core.Config{Layout: p.widest(), Worker: core.Fixed(worker)})
	if err != nil {
		var config *core.ConfigError
		if errors.As(err, &config) { // an epoch ahead of the clock
			f := config.Fields[0]
			return nil, refuse(http.StatusBadRequest, apiNames.Replace(f.Field), f.Value, f.Reason)
		}
		return nil, err
	}
	m.all[p] = gen
	return gen, nil
}

// fill makes ids; all of them are of the layout, or none is given out.
func (m *makers) fill(ctx context.Context, l core.Layout, worker int64, ids []int64) error {
	if end := l.End(); !time.Now().Before(end) {
		return refuse(http.StatusBadRequest, "time_bits", quote(l.TimeBits), "are used up: the layout's time ended at "+formatTime(end))
	}
	gen, err := m.of(l, worker)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	switch err := gen.Fill(ctx, ids); {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, core.ErrSequenceExhausted):
		return refuse(http.StatusServiceUnavailable, "worker", quote(worker), fmt.Sprintf(
			"has no room for %d ids within %v: a tick of %v holds %d, and a new generator begins with the next tick", len(ids), m.patience, l.Tick, l.IDsPerTick()))
	default:
		return err
	}
	for _, id := range ids {
		if _, err := l.Decode(id); err != nil {
			return refuse(http.StatusBadRequest, "time_bits", quote(l.TimeBits), "are used up: "+err.Error())
		}
	}
	return nil
}
