package core

import (
	"sync/atomic"
	"time"
)

// Stats is what a generator has done so far and where it stands.
type Stats struct {
	Issued uint64        // ids taken; those of a cancelled Fill count
	Waited uint64        // calls that had to wait
	Worker int64         // datacenter<<WorkerBits | worker
	Ahead  time.Duration // by how much the last id's time lies ahead of the wall clock now; 0 when it does not
}

type counters struct {
	waited atomic.Uint64
	issued atomic.Uint64 // the most that Stats has told
}

// Stats takes a snapshot. It costs the ids nothing: what was issued follows
// from where time stands and what was passed over.
func (g *Generator) Stats() Stats {
	r := g.run.Load()
	if r == nil {
		return Stats{}
	}
	word := r.place() // before skipped, which is raised first: so Issued is never too high
	skipped := r.skipped.Load()
	var issued uint64
	if passed := word - r.first; passed > skipped {
		issued = passed - skipped
	}
	st := Stats{Issued: g.stats.tell(issued), Waited: g.stats.waited.Load(), Worker: r.grant.worker}
	if st.Issued > 0 {
		bits := r.shape.layout.SequenceBits
		now, _ := g.clock.read()
		if last := (word - 1) >> bits; last > now {
			st.Ahead = r.shape.startOf(last).Sub(r.shape.startOf(now))
		}
	}
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
