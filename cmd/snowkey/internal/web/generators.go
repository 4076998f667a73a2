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

// longestTick bounds the ticks of generators. A generator may have to be kept until its last
// tick is over, so this is also how long the full set of generators can refuse new pairs.
const longestTick = time.Minute

// generators holds one generator for each pair of layout and worker ID that was asked for,
// because a second generator of a pair could repeat what the first has issued. Their number
// is bounded: if there is no room for a new pair, those that are idle are evicted.
//
// That is safe: a generator is evicted when the tick of its last id is over, and mark
// remembers the end of that tick. All later generators begin at mark or later, even if the
// clock steps back, so a pair that returns repeats none of its ids.
type generators struct {
	limit    int
	patience time.Duration    // how long one request may wait for free slots
	clock    func() time.Time // of the generators; nil: the system's

	mu    sync.Mutex
	all   map[pair]*member
	mark  time.Time      // no id of an evicted generator has this time or a later one
	count generatorStats // without generators
}

// generatorStats are what the generators have done.
type generatorStats struct {
	generators      int
	issued, evicted uint64
}

func (g *generators) stats() generatorStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.count
	s.generators = len(g.all)
	return s
}

// member is one generator.
type member struct {
	gen   *core.Generator
	users int       // requests that use it now
	end   time.Time // the end of the tick of its last id
}

// A pair identifies the ids that a generator can issue. Layouts whose ids are the same
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
	return &generators{limit: limit, patience: patience, all: map[pair]*member{}}
}

func (g *generators) now() time.Time {
	if g.clock != nil {
		return g.clock()
	}
	return time.Now()
}

// take returns the generator for a layout and a worker ID. The caller gives it back with put.
func (g *generators) take(l core.Layout, worker int64) (*member, error) {
	p := pairOf(l, worker)
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := g.all[p]; m != nil {
		m.users++
		return m, nil
	}
	if len(g.all) >= g.limit {
		if wait := g.evict(); wait > 0 {
			return nil, refuse(http.StatusServiceUnavailable, "worker", quote(worker), fmt.Sprintf(
				"this server generates ids for %d pairs of layout and worker ID at this moment and accepts no more", g.limit)).after(wait)
		}
	}
	cfg := core.Config{Layout: p.widest(), Worker: core.Fixed(worker), Now: g.clock}
	if !g.mark.IsZero() {
		cfg.NotBefore = g.mark.Add(-1) // Ids have later times than NotBefore
	}
	gen, err := core.New(cfg)
	if err != nil {
		var config *core.ConfigError
		if errors.As(err, &config) { // an epoch in the future
			f := config.Fields[0]
			return nil, refuse(http.StatusBadRequest, apiNames.Replace(f.Field), f.Value, f.Reason)
		}
		return nil, err
	}
	g.all[p] = &member{gen: gen, users: 1}
	return g.all[p], nil
}

// put gives a generator back, with the end of the tick of the last of the n ids that it has
// issued; zero: none.
func (g *generators) put(m *member, n int, end time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m.users--
	g.count.issued += uint64(n)
	if end.After(m.end) {
		m.end = end
	}
}

// evict makes room for one generator. If it cannot, it returns how long that takes; g.mu is held.
func (g *generators) evict() (wait time.Duration) {
	now := g.now()
	for p, m := range g.all {
		left := time.Second // in use
		if m.users == 0 {
			left = m.end.Sub(now)
		}
		if left <= 0 {
			m.gen.Close()
			if m.end.After(g.mark) {
				g.mark = m.end
			}
			delete(g.all, p)
			g.count.evicted++
		} else if wait == 0 || left < wait {
			wait = left
		}
	}
	if len(g.all) < g.limit {
		return 0
	}
	return wait
}

// fill generates ids: all of them fit the layout, or none is returned.
func (g *generators) fill(ctx context.Context, l core.Layout, worker int64, ids []int64) error {
	now := g.now()
	if end := l.End(); !now.Before(end) {
		return refuse(http.StatusBadRequest, "time_bits", quote(l.TimeBits), "are exhausted: the layout ended at "+timetext.Format(end))
	}
	if l.Tick > longestTick {
		return refuse(http.StatusBadRequest, "tick", l.Tick.String(), fmt.Sprintf(
			"must be at most %v, because a generator starts with the next tick; with time, ids of any tick are composed", longestTick))
	}
	m, err := g.take(l, worker)
	if err != nil {
		return err
	}
	var last, end time.Time
	issued := 0
	defer func() { g.put(m, issued, end) }()
	ctx, cancel := context.WithTimeout(ctx, g.patience)
	defer cancel()
	var behind *core.ClockError
	switch err := m.gen.Fill(ctx, ids); {
	case err == nil:
	case errors.As(err, &behind):
		return refuse(http.StatusServiceUnavailable, "worker", quote(worker), fmt.Sprintf(
			"the server's clock was set back, and ids continue when it has caught up, in %v", behind.Back)).after(behind.Back)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, core.ErrSequenceExhausted):
		return refuse(http.StatusServiceUnavailable, "worker", quote(worker), fmt.Sprintf(
			"cannot issue %d ids within %v: a tick of %v holds %d, and a new generator starts with the next tick", len(ids), g.patience, l.Tick, l.IDsPerTick())).
			after(l.Tick - g.now().Sub(l.Epoch)%l.Tick)
	case errors.Is(err, context.Canceled): // the client is gone
		return refuse(http.StatusServiceUnavailable, "request", "", "was cancelled")
	default:
		return err
	}
	for _, id := range ids { // in ascending order
		parts, err := l.Decode(id)
		if err != nil { // no id is returned, so none needs to be remembered
			return refuse(http.StatusBadRequest, "time_bits", quote(l.TimeBits), "are exhausted: "+err.Error())
		}
		last = parts.Time
	}
	end, issued = last.Add(l.Tick), len(ids)
	return nil
}
