package core

import (
	"sync/atomic"
	"time"
)

// Stats is a snapshot of a generator's counters and limits.
type Stats struct {
	Issued          uint64        // ids taken, including those of a cancelled Fill; not slots that a waiting call has reserved
	Waited          uint64        // calls that had to wait
	Exhausted       uint64        // calls among them that waited because a tick was full
	StepsBack       uint64        // steps back of the wall clock; those under 1ms are not noticed
	LargestStepBack time.Duration // the largest of them
	Ahead           time.Duration // how far the last id's time is ahead of the wall clock; 0 if it is not
	Worker          int64         // datacenter<<WorkerBits | worker
	HasFence        bool          // whether the grant has a fence
	FenceLeft       time.Duration // until the wall clock reaches the fence; 0 if it has, or there is none
	CounterTrusted  bool          // whether the processor's counter is trusted, so that ids within a tick need no clock
	LayoutLeft      time.Duration // until the layout's time runs out, at most 292 years
}

// Stats returns a snapshot. It costs the generator nothing: the number of ids follows from the
// cursor and what it has skipped. A zero Generator has zero Stats.
func (g *Generator) Stats() Stats {
	if g.current.Load() == nil {
		return Stats{}
	}
	g.mu.Lock() // so that the allocator is not replaced meanwhile
	a := g.current.Load()
	issued := g.passed + a.slotsPassed() // before skipped, which rises before the cursor does: so Issued is never too high
	g.mu.Unlock()
	issued -= min(g.counters.skipped.Load(), issued)
	st := Stats{
		Issued:          g.counters.raiseIssued(issued),
		Waited:          g.counters.waited.Load(),
		Exhausted:       g.counters.exhausted.Load(),
		StepsBack:       g.counters.stepsBack.Load(),
		LargestStepBack: time.Duration(g.counters.largestStepBack.Load()),
		Worker:          a.grant.worker,
		HasFence:        a.grant.hasFence,
		CounterTrusted:  g.clock.counter.trusted.Load(),
	}
	now := min(g.clock.tickAt(g.clock.read().wall), g.layout.tickMax)
	wall := a.layout.startOf(now)
	if p := a.position(0); p.issued && p.lastIssued > now {
		st.Ahead = a.layout.startOf(p.lastIssued).Sub(wall)
	}
	if fence := a.grant.fence.Load(); st.HasFence && fence > now {
		st.FenceLeft = a.layout.startOf(fence).Sub(wall)
	}
	st.LayoutLeft = max(g.layout.end.Sub(wall), 0)
	return st
}

// counters are what a generator counts for its Stats.
type counters struct {
	waited, exhausted, stepsBack atomic.Uint64
	largestStepBack              atomic.Int64
	issued                       atomic.Uint64 // the greatest Issued so far
	_                            [64]byte      // the fast path writes what follows
	skipped                      atomic.Uint64 // slots passed over
	_                            [56]byte
}

func (c *counters) addStepBack(d time.Duration) {
	c.stepsBack.Add(1)
	for {
		largest := c.largestStepBack.Load()
		if int64(d) <= largest || c.largestStepBack.CompareAndSwap(largest, int64(d)) {
			return
		}
	}
}

// raiseIssued returns the greatest count so far: a swap that is about to fail makes the
// computed one too low for a moment.
func (c *counters) raiseIssued(issued uint64) uint64 {
	for {
		before := c.issued.Load()
		if issued <= before {
			return before
		}
		if c.issued.CompareAndSwap(before, issued) {
			return issued
		}
	}
}

// A Metric is one figure of a generator, for programs that export it. Its name and its unit follow
// the conventions of OpenTelemetry.
type Metric struct {
	Name    string // such as "snowkey.ids.issued"
	Help    string
	Unit    string // such as "s" or "{id}"; empty: none. Only values in seconds have fractions.
	Counter bool   // it never falls; otherwise it is a gauge
	Value   float64
	Labels  map[string]string // such as "snowkey.namespace": "orders"; nil: none. Do not change it.
}

// Metrics returns the figures of [Generator.Stats] at present, always in the same order. A
// generator without a fence has no "snowkey.fence.left". There are none for nil and for a zero
// Generator.
func (g *Generator) Metrics() []Metric {
	if g == nil || g.current.Load() == nil {
		return nil
	}
	st := g.Stats()
	trusted := 0.0
	if st.CounterTrusted {
		trusted = 1
	}
	list := []Metric{
		{Name: "snowkey.ids.issued", Unit: "{id}", Counter: true, Value: float64(st.Issued),
			Help: "Ids taken from the generator, including those of a cancelled Fill."},
		{Name: "snowkey.calls.waited", Unit: "{call}", Counter: true, Value: float64(st.Waited),
			Help: "Calls of Next and Fill that had to wait."},
		{Name: "snowkey.calls.exhausted", Unit: "{call}", Counter: true, Value: float64(st.Exhausted),
			Help: "Calls that had to wait because all ids of a tick were issued."},
		{Name: "snowkey.clock.steps_back", Unit: "{step}", Counter: true, Value: float64(st.StepsBack),
			Help: "Steps back of the wall clock by a millisecond or more."},
		{Name: "snowkey.clock.largest_step_back", Unit: "s", Value: st.LargestStepBack.Seconds(),
			Help: "The largest step back of the wall clock since the generator was made."},
		{Name: "snowkey.ids.ahead", Unit: "s", Value: st.Ahead.Seconds(),
			Help: "How far the time of the last id is ahead of the wall clock; 0 if it is not."},
		{Name: "snowkey.layout.left", Unit: "s", Value: st.LayoutLeft.Seconds(),
			Help: "How long until the time of the layout runs out, at most 292 years."},
		{Name: "snowkey.cpu_counter.trusted", Value: trusted,
			Help: "1 if the processor's counter is trusted, 0 if every id reads the clock."},
		{Name: "snowkey.worker.id", Value: float64(st.Worker),
			Help: "The worker ID that ids carry: datacenter<<WorkerBits | worker."},
	}
	if st.HasFence {
		list = append(list, Metric{Name: "snowkey.fence.left", Unit: "s", Value: st.FenceLeft.Seconds(),
			Help: "How long ids can continue without a renewal; 0 if they have reached the fence, or the lease was released."})
	}
	return list
}
