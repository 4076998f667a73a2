package core_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Ids that are taken one in a tick and sharded modulo 2^k spread evenly in Carry
// and Random, and not at all in Zero, which shows that the test can fail.
func TestSequenceSpreadsOverShards(t *testing.T) {
	const bits, ids = 8, 8192
	for _, start := range []core.SequenceStart{core.SequenceZero, core.SequenceCarry, core.SequenceRandom} {
		t.Run(start.String(), func(t *testing.T) {
			var drawn []int64
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
				l := core.Layout{TimeBits: 41, WorkerBits: 5, SequenceBits: bits}
				g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(21), Sequence: start})
				for range ids {
					time.Sleep(time.Millisecond)
					id, err := g.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					drawn = append(drawn, id)
				}
			})
			if !slices.IsSorted(drawn) {
				t.Error("ids do not ascend")
			}
			for k := 1; k < bits; k++ {
				shards := make([]float64, 1<<k)
				for _, id := range drawn {
					shards[id&(1<<k-1)]++
				}
				want, chi := float64(ids)/float64(len(shards)), 0.0
				for _, n := range shards {
					chi += (n - want) * (n - want) / want
				}
				// Chi-square has the mean df and the variance 2 df: 6 deviations
				// and some are a chance of less than one in a million.
				df := float64(len(shards) - 1)
				limit := df + 8*sqrt(2*df) + 8
				if even := chi <= limit; even != (start != core.SequenceZero) {
					t.Errorf("modulo 2^%d: chi-square %.1f, limit %.1f", k, chi, limit)
				}
			}
		})
	}
}

func sqrt(x float64) float64 {
	root := x
	for range 50 {
		root = (root + x/root) / 2
	}
	return root
}

// Whatever the sequence begins with, a tick has at least half of its ids.
func TestEveryTickHasHalfOfItsIDs(t *testing.T) {
	for _, start := range []core.SequenceStart{core.SequenceZero, core.SequenceCarry, core.SequenceRandom} {
		t.Run(start.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
				g := mustNew(t, core.Config{Worker: core.Fixed(1), Sequence: start})
				ids := make([]int64, 200_000)
				began := time.Now()
				if err := g.Fill(t.Context(), ids); err != nil {
					t.Fatal(err)
				}
				if ticks := time.Since(began).Milliseconds(); ticks > int64(len(ids))/2048+2 {
					t.Errorf("%d ids took %d ticks", len(ids), ticks)
				}
				noDuplicates(t, ids)
			})
		})
	}
	if g, err := core.New(core.Config{Worker: core.Fixed(1), Sequence: 7}); err == nil {
		t.Errorf("Sequence 7 was taken: %v", g.Layout())
	}
}

// Where the last tick's sequence ended near the top, Carry begins in the lower
// half all the same.
func TestCarryBeginsInTheLowerHalf(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		l := core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 4}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Sequence: core.SequenceCarry})
		var p core.Parts
		for range 14 {
			p = next(t, g)
		}
		time.Sleep(time.Millisecond)
		if after := next(t, g); p.Sequence != 13 || after.Sequence != 14&7 {
			t.Errorf("sequence %d after %d", after.Sequence, p.Sequence)
		}
	})
}
