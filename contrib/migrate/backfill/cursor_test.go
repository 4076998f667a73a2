package backfill

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Ids ascend with the times of the rows, differ, are late by no more than is said, and are never 0, which means none.
func TestCursorProperties(t *testing.T) {
	layouts := []core.Layout{core.Twitter(), core.Sonyflake(), core.Seconds(), core.JavaScriptSafe(), {TimeBits: 41, WorkerBits: 4}, {TimeBits: 40, Tick: 3 * time.Millisecond, RollbackBits: 2, WorkerBits: 3, SequenceBits: 2}}
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(layouts).Draw(t, "layout").WithDefaults()
		worker := rapid.Int64Range(0, l.WorkerIDs()-1).Draw(t, "worker")
		start := l.Epoch.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "start")))
		// Bursts of equal times, and gaps. rapid prefers short ones.
		least := rapid.SampledFrom([]int{1, 10, 100}).Draw(t, "least")
		steps := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, 0, 0, time.Microsecond, time.Millisecond, 7 * time.Millisecond, time.Second, time.Hour}), least, 200).Draw(t, "steps")
		// Mostly far away; rapid prefers small numbers, and then no row would get an id.
		room := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 50 * time.Millisecond, time.Minute, 300 * time.Hour, 300 * time.Hour})
		before := start.Add(room.Draw(t, "room") + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "more")))
		c := newCursor(l, worker, before)
		at := start
		var last, rows int64
		for _, step := range steps {
			at = at.Add(step)
			id, delay, o, err := c.next(at)
			if err != nil {
				t.Fatal(err)
			}
			if o == tooNew {
				next := max(c.tick+1, c.tickOf(at))
				if next == 0 && worker == 0 && l.IDsPerTick() == 1 {
					next = 1 // the only id of the first tick is 0, which means that none is set
				}
				if !c.startOf(next + 1).After(before) {
					t.Fatalf("%v is too new, although %v is free", at, c.startOf(next))
				}
				break
			}
			p, err := l.Decode(id)
			if err != nil || o != given || id <= last {
				t.Fatalf("%d after %d, outcome %d, %v", id, last, o, err)
			}
			last = id
			rows++
			if p.Datacenter<<l.WorkerBits|p.Worker != worker || p.Rollback != 0 {
				t.Fatalf("%+v is not of worker ID %d", p, worker)
			}
			tick := l.Epoch.Add(at.Sub(l.Epoch).Truncate(l.Tick))
			if off := p.Time.Sub(tick); off != delay || off < 0 || off > time.Duration(rows/l.IDsPerTick()+1)*l.Tick {
				t.Fatalf("the id of %v is of %v, delay %v, after %d rows", at, p.Time, delay, rows)
			}
			if p.Time.Add(l.Tick).After(before) {
				t.Fatalf("the id's tick begins at %v, the claim at %v", p.Time, before)
			}
		}
	})
}

func TestCursorOutcomes(t *testing.T) {
	l := core.Twitter()
	at := func(ms int64) time.Time { return l.Epoch.Add(time.Duration(ms) * time.Millisecond) }
	c := newCursor(l, 5, at(1000))
	for _, step := range []struct {
		ms       int64
		n        int // how many rows
		o        outcome
		tick, sq int64
	}{
		{10, 1, given, 10, 0},
		{10, 4095, given, 10, 4095},
		{10, 1, given, 11, 0}, // the tick is full
		{11, 1, given, 11, 1}, // and its rows share the next one
		{10, 1, late, 11, 1},
		{500, 1, given, 500, 0},
		{999, 1, given, 999, 0},
		{1000, 1, tooNew, 999, 0},
		{998, 1, late, 999, 0},
		{999, 1, given, 999, 1}, // neither has moved the cursor
	} {
		for range step.n {
			if _, _, o, err := c.next(at(step.ms)); o != step.o || err != nil {
				t.Fatalf("%+v: outcome %d, %v", step, o, err)
			}
		}
		if c.tick != step.tick || c.seq != step.sq {
			t.Errorf("%+v: the cursor is at %d, %d", step, c.tick, c.seq)
		}
	}
}
