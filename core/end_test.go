package core_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Where time and sequence take all 64 bits, the cursor has no bit to spare.
func TestTimeRunsOutInAFullCursor(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		l := core.Layout{TimeBits: 44, SequenceBits: 20, Unsigned: true}
		began := time.Now()
		now := func() time.Time { return l.End().Add(time.Since(began) - 100*time.Millisecond) }
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(0), Now: now})
		ids := make([]int64, 10_000)
		var last uint64
		for {
			if err := g.Fill(t.Context(), ids); err != nil {
				if !errors.Is(err, core.ErrTimestampExhausted) {
					t.Fatal(err)
				}
				break
			}
			for _, id := range ids {
				if uint64(id) <= last {
					t.Fatalf("%d came after %d", uint64(id), last)
				}
				last = uint64(id)
			}
			time.Sleep(time.Millisecond / 2)
		}
		for range 110 { // to beyond the layout's end
			time.Sleep(time.Millisecond)
			if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrTimestampExhausted) || last == 0 {
				t.Fatalf("after %d: %v", last, err)
			}
		}
		g.Close()
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestTimeRunsOut(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		l := core.Layout{Epoch: time.Now().Truncate(time.Millisecond), TimeBits: 9, SequenceBits: 4}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(0)})
		var ids []int64
		for {
			id, err := g.Next(t.Context())
			if err != nil {
				if !errors.Is(err, core.ErrTimestampExhausted) {
					t.Fatal(err)
				}
				break
			}
			ids = append(ids, id)
		}
		if len(ids) == 0 || slices.Max(ids) >= 1<<13 {
			t.Errorf("%d ids, or one beyond the layout", len(ids))
		}
		noDuplicates(t, ids)
	})
}

// The very last slots of a cursor that time and sequence fill: it must not
// overflow into slots that were issued long ago, and the clock must not either,
// however long the generator pauses before the next call.
func TestLastSlots(t *testing.T) {
	for _, l := range []core.Layout{{TimeBits: 60, SequenceBits: 4, Unsigned: true}, {TimeBits: 64, Unsigned: true}} {
		for _, still := range []time.Duration{0, 10 * time.Millisecond, 5 * time.Second} {
			inBubble(t, func(t *testing.T, _ *manual) {
				now := l.End().Add(-6 * time.Millisecond)
				g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(0), Now: func() time.Time { return now }})
				time.Sleep(still)
				ids := make([]int64, l.IDsPerTick())
				var last uint64
				for left := 6; left >= 0; left-- {
					now = l.End().Add(-time.Duration(left) * time.Millisecond)
					for g.Fill(t.Context(), ids) == nil {
						for _, id := range ids {
							if uint64(id) <= last {
								t.Fatalf("%d came after %d", uint64(id), last)
							}
							last = uint64(id)
						}
					}
				}
				if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrTimestampExhausted) || last == 0 {
					t.Errorf("%v, still for %v: after %d: %v", l, still, last, err)
				}
			})
		}
	}
}
