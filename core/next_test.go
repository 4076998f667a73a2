package core_test

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestFillLongerThanMaxWait(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		g := mustNew(t, core.Config{Layout: core.Layout{TimeBits: 41, SequenceBits: 2}, Worker: core.Fixed(0), MaxWait: 5 * time.Millisecond})
		ids := make([]int64, 4*1000)
		began := time.Now()
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		if d := time.Since(began); d < 900*time.Millisecond {
			t.Errorf("1000 ticks took %v: ids ran ahead of the clock", d)
		}
	})
}

// Success costs no allocation, with every policy and start of the sequence.
func TestNoAllocations(t *testing.T) {
	for name, cfg := range policies() {
		t.Run(name, func(t *testing.T) {
			g := mustNew(t, cfg)
			ids := make([]int64, 1000)
			draw := func() { nextID(t, g) }
			fill := func() {
				must(t, g.Fill(t.Context(), ids))
			}
			fill() // waits for the first tick
			if n := testing.AllocsPerRun(10_000, draw); n != 0 {
				t.Errorf("Next makes %v allocations", n)
			}
			if n := testing.AllocsPerRun(200, fill); n != 0 {
				t.Errorf("Fill makes %v allocations", n)
			}
		})
	}
	g := mustNew(t, core.Config{Worker: core.Fixed(1)})
	if n := testing.AllocsPerRun(100, func() { _ = g.Stats() }); n != 0 {
		t.Errorf("Stats makes %v allocations", n)
	}
}

// Neither does an id that the clock made hard to find. (Rollback and Rotate make
// a new allocator at each step back.)
func TestNoAllocationsAtAStepBack(t *testing.T) {
	for name, back := range map[string]core.ClockPolicy{"Logical": core.Logical{}, "Reuse": core.Reuse{Window: time.Minute}} {
		var clock steppingClock
		g := mustNew(t, core.Config{Worker: core.Fixed(1), ClockPolicy: back, Now: clock.now})
		draw := func() { nextID(t, g) }
		for range 100 {
			clock.offset.Add(int64(2 * time.Millisecond))
			draw()
		}
		clock.offset.Add(-int64(100 * time.Millisecond))
		if n := testing.AllocsPerRun(10_000, draw); n != 0 {
			t.Errorf("%s: Next makes %v allocations", name, n)
		}
	}
}

// A Fill that waits for ticks, and takes many parts, does not allocate either.
func TestNoAllocationsInManyChunks(t *testing.T) {
	l := core.Layout{TimeBits: 41, WorkerBits: 4, SequenceBits: 4}
	began, reads := time.Now(), 0
	now := func() time.Time { reads++; return began.Add(time.Duration(reads) * 2 * time.Millisecond) } // each part in its own tick
	g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Now: now})
	ids := make([]int64, 300)
	fill := func() {
		last := slices.Max(ids)
		must(t, g.Fill(t.Context(), ids))
		if !slices.IsSorted(ids) || ids[0] <= last {
			t.Fatalf("%d to %d after %d", ids[0], ids[len(ids)-1], last)
		}
	}
	fill()
	if n := testing.AllocsPerRun(100, fill); n != 0 && !raceEnabled { // its sync.Pool forgets at random
		t.Errorf("%v allocations", n)
	}
	sony := mustNew(t, core.Config{Layout: core.Sonyflake(), Worker: core.Fixed(1)})
	g = sony
	ids = make([]int64, 1000)
	fill()
	if n := testing.AllocsPerRun(20, fill); n != 0 { // the runtime's own, such as for a thread, are fewer
		t.Errorf("waiting for ticks of 10ms: %v allocations", n)
	}
}
