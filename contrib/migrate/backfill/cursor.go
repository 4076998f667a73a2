package backfill

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A cursor gives ids to rows in the order of their times, under one worker ID. Its ticks are
// counted from the layout's epoch.
type cursor struct {
	layout  core.Layout
	worker  int64
	before  time.Time // no id carries this time or a later one
	rowTick int64     // of the last row; -1: none
	tick    int64     // of the last id
	seq     int64     // of the last id; -1: none in this tick
}

// outcome says what became of a row.
type outcome int

const (
	given  outcome = iota
	late           // it is before a row that has an id
	tooNew         // its id would carry a time at or after the claim
)

func newCursor(l core.Layout, worker int64, before time.Time) *cursor {
	return &cursor{layout: l, worker: worker, before: before, rowTick: -1, tick: -1, seq: -1}
}

// tickOf returns the tick of a time at or after the epoch. A Duration would end after 292 years.
func (c *cursor) tickOf(t time.Time) int64 {
	return (t.UnixMilli() - c.layout.Epoch.UnixMilli()) / c.layout.Tick.Milliseconds()
}

func (c *cursor) startOf(tick int64) time.Time {
	return time.UnixMilli(c.layout.Epoch.UnixMilli() + tick*c.layout.Tick.Milliseconds()).UTC()
}

// next returns the id of a row that was made at a time from the epoch on, and by how much its time
// is after the row's tick. Rows that get none leave the cursor unchanged.
func (c *cursor) next(at time.Time) (id int64, delay time.Duration, o outcome, err error) {
	row := c.tickOf(at)
	if row < c.rowTick {
		return 0, 0, late, nil
	}
	tick, seq := c.tick, c.seq+1
	switch {
	case row > tick:
		tick, seq = row, 0
	case seq >= c.layout.IDsPerTick():
		tick, seq = tick+1, 0
	}
	if row == 0 && tick == 0 && seq == 0 && c.worker == 0 {
		seq = 1 // the id 0 means that none is set
	}
	if seq >= c.layout.IDsPerTick() {
		tick, seq = tick+1, 0
	}
	if c.startOf(tick + 1).After(c.before) {
		return 0, 0, tooNew, nil
	}
	id, err = c.layout.Compose(core.Parts{
		Time: c.startOf(tick), Sequence: seq,
		Datacenter: c.worker >> c.layout.WorkerBits, Worker: c.worker & (1<<c.layout.WorkerBits - 1),
	})
	if err != nil {
		return 0, 0, 0, err
	}
	c.rowTick, c.tick, c.seq = row, tick, seq
	return id, time.Duration(tick-row) * c.layout.Tick, given, nil
}
