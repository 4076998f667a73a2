package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-299c1d6b/snowkey/core"
)

// step is one thing that happens to a generator in the model.
type step struct {
	sleep time.Duration // time passes
	shift time.Duration // the wall clock steps
	draw  int           // ids: 1 by Next, more by Fill
}

// A generator under any sequence of steps, against a model that is a set of the
// ids issued and the highest wall clock seen, carried on.
func TestAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		back := rapid.SampledFrom([]core.ClockBack{core.Logical{}, core.Refuse{}, core.Wait{Max: 10 * time.Millisecond}, core.Rollback{}, core.Reuse{Window: 50 * time.Millisecond}}).Draw(rt, "back")
		l := core.Layout{
			TimeBits: 41, RollbackBits: 2, WorkerBits: 3, SequenceBits: rapid.Uint8Range(0, 4).Draw(rt, "sequenceBits"),
			Tick:          time.Duration(rapid.SampledFrom([]int{1, 3, 10}).Draw(rt, "tick")) * time.Millisecond,
			SequenceFirst: rapid.Bool().Draw(rt, "sequenceFirst"),
		}
		start := rapid.SampledFrom([]core.SequenceStart{core.Zero, core.Carry, core.Random}).Draw(rt, "start")
		ms := func(label string, least int) time.Duration {
			return time.Duration(rapid.IntRange(least, 100).Draw(rt, label)) * time.Millisecond
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				return step{sleep: ms("sleep", 0)}
			case 1:
				return step{shift: ms("shift", -100)}
			}
			return step{draw: rapid.IntRange(1, 40).Draw(rt, "draw")}
		}), 1, 40).Draw(rt, "steps")
		var fault string
		synctest.Test(t, func(t *testing.T) { fault = runModel(t, l, back, start, steps) })
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

func runModel(t *testing.T, l core.Layout, back core.ClockBack, start core.SequenceStart, steps []step) string {
	time.Sleep(time.Until(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
	clock := &manual{}
	g, err := core.New(core.Config{Layout: l, Worker: core.Fixed(5), Now: clock.now, ClockBack: back, Sequence: start, MaxWait: 30 * time.Millisecond})
	if err != nil {
		return err.Error()
	}
	defer g.Close()
	_, logical := back.(core.Logical)
	_, rollback := back.(core.Rollback)
	_, reuse := back.(core.Reuse)
	issued := map[int64]bool{}
	born := clock.now()
	lead := time.Duration(0) // of the carried clock over the bubble's time
	last := int64(-1)
	for i, s := range steps {
		time.Sleep(s.sleep)
		clock.offset += s.shift
		lead = max(lead, clock.offset)
		if s.draw == 0 {
			continue
		}
		ids := make([]int64, s.draw)
		if s.draw == 1 {
			ids[0], err = g.Next(t.Context())
		} else {
			err = g.Fill(t.Context(), ids)
		}
		for _, id := range ids {
			switch {
			case err != nil && id != 0:
				return fmt.Sprintf("step %d: %d was handed out with %v", i, id, err)
			case err != nil:
				continue
			case issued[id]:
				return fmt.Sprintf("step %d: %d a second time", i, id)
			case id <= last && !rollback && !reuse:
				return fmt.Sprintf("step %d: %d after %d", i, id, last)
			}
			issued[id], last = true, id
			p, err := l.Decompose(id)
			if err != nil || p.Worker != 5 {
				return fmt.Sprintf("step %d: %+v, %v", i, p, err)
			}
			ceiling := time.Now().Add(lead)
			if !p.Time.After(born.Add(-l.Tick)) && !rollback || p.Time.After(ceiling) {
				return fmt.Sprintf("step %d: an id of %v, born %v, ceiling %v", i, p.Time, born, ceiling)
			}
		}
		if err != nil && logical && s.draw == 1 && l.SequenceBits > 0 && l.Tick < 10*time.Millisecond {
			return fmt.Sprintf("step %d: %v", i, err)
		}
	}
	if n := g.Stats().Issued; n < uint64(len(issued)) {
		return fmt.Sprintf("%d issued, Stats tell %d", len(issued), n)
	}
	return ""
}
