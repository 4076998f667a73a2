package core

import (
	"sync/atomic"
	"time"
)

// Stats is what a generator has done so far and where it stands.
type Stats struct {
	Issued          uint64        // ids taken; those of a cancelled Fill count
	Waited          uint64        // calls that had to wait
	Exhausted       uint64        // of those, the ones that waited for a tick because the one before was full
	StepsBack       uint64        // steps back of the wall clock that were noticed; those under 1ms are not
	LargestStepBack time.Duration // the largest of them
	Ahead           time.Duration // by how much the last id's time lies ahead of the wall clock now; 0 when it does not
	Worker          int64         // datacenter<<WorkerBits | worker
	HasFence        bool          // whether the grant has an end
	FenceLeft       time.Duration // until the wall clock reaches that end; 0 when it has, or there is none
	LayoutLeft      time.Duration // until the layout's time runs out, at most 292 years
}

type counters struct {
	waited, exhausted, stepsBack atomic.Uint64
	largestStepBack              atomic.Int64
	issued                       atomic.Uint64 // the most that Stats has told
	_                            [64]byte      // the fast path writes what follows
	skipped                      atomic.Uint64 // places passed over
	_                            [56]byte
}

// steppedBack counts a step of the wall clock.
func (c *counters) steppedBack(by time.Duration) {
	c.stepsBack.Add(1)
	for {
		largest := c.largestStepBack.Load()
		if int64(by) <= largest || c.largestStepBack.CompareAndSwap(largest, int64(by)) {
			return
		}
	}
}

// Stats takes a snapshot. It costs the ids nothing: what was issued follows
// from where time stands and what was passed over.
func (g *Generator) Stats() Stats {
	if g.run.Load() == nil {
		return Stats{}
	}
	g.mu.Lock() // so that no run is replaced meanwhile
	r := g.run.Load()
	issued := g.before + r.passed() // before skipped, which is raised before the word is: so Issued is never too high
	g.mu.Unlock()
	issued -= min(g.stats.skipped.Load(), issued)
	s := g.shape
	st := Stats{
		Issued:          g.stats.tell(issued),
		Waited:          g.stats.waited.Load(),
		Exhausted:       g.stats.exhausted.Load(),
		StepsBack:       g.stats.stepsBack.Load(),
		LargestStepBack: time.Duration(g.stats.largestStepBack.Load()),
		Worker:          r.grant.worker,
		HasFence:        r.grant.bound,
	}
	now, _ := g.clock.read()
	now = min(now, s.tickMax)
	wall := s.startOf(now)
	place := r.place()
	if last := (place - 1) >> s.layout.SequenceBits; place > r.first && last > now {
		st.Ahead = s.startOf(last).Sub(wall)
	}
	if until := r.grant.until.Load(); st.HasFence && until > now {
		st.FenceLeft = s.startOf(until).Sub(wall)
	}
	st.LayoutLeft = max(s.end.Sub(wall), 0)
	return st
}

// tell keeps Issued from going down: a swap that is about to fail makes it look
// too low for a moment.
func (c *counters) tell(issued uint64) uint64 {
	for {
		told := c.issued.Load()
		if issued <= told {
			return told
		}
		if c.issued.CompareAndSwap(told, issued) {
			return issued
		}
	}
}
