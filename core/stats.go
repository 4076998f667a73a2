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
	Counter         bool          // whether the processor's counter is trusted, so that ids within a tick need no clock
	LayoutLeft      time.Duration // until the layout's time runs out, at most 292 years
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
