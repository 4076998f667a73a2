package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Everything at once: four generators share five worker IDs, each with a clock of
// its own that steps by up to an hour, while their grants are raised, revoked and
// given back to the last tick, calls are cancelled, generators are closed and made
// anew, and half of them trust a processor's counter that lies. No id may come twice, from whichever generator.
func TestStorm(t *testing.T) {
	answers := map[string]core.ClockPolicy{
		"Logical": core.Logical{}, "Near": core.Logical{MaxAhead: 3 * time.Millisecond}, "Detached": core.Logical{Detached: true},
		"Refuse": core.Refuse{}, "Wait": core.Wait{Max: 2 * time.Millisecond}, "Rollback": core.Rollback{},
		"Reuse": core.Reuse{Window: time.Minute}, "Rotate": core.Rotate{},
	}
	for name, answer := range answers {
		for _, start := range []core.SequenceStart{core.SequenceZero, core.SequenceRandom} {
			t.Run(fmt.Sprint(name, "/", start), func(t *testing.T) { storm(t, answer, start) })
		}
	}
}

func storm(t *testing.T, answer core.ClockPolicy, start core.SequenceStart) {
	const generators, writers = 4, 3
	lasts := 300 * time.Millisecond
	if testing.Short() {
		lasts = 100 * time.Millisecond
	}
	l := core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 3, SequenceBits: 6} // so few that calls wait in line
	var truth steppingClock
	book := newLedger(l, generators+1, 20*time.Millisecond, 1, truth.now)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	var mu sync.Mutex
	var all [][]int64
	drawn := 0
	var wg sync.WaitGroup
	for i := range generators {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(i)))
			for ctx.Err() == nil {
				var clock steppingClock
				honest := func() {}
				h := &holding{ledger: book}
				g, err := core.New(core.Config{
					Layout: l, Worker: h, ClockPolicy: answer, Sequence: start, Now: clock.now,
					MaxWait: 5 * time.Millisecond, MaxJump: 24 * time.Hour,
				})
				if err != nil {
					t.Error(err)
					return
				}
				if rnd.IntN(2) == 0 {
					honest = core.Mislead(g)
				}
				var writing sync.WaitGroup
				stop, halt := context.WithTimeout(ctx, time.Duration(10+rnd.IntN(60))*time.Millisecond)
				for w := range writers {
					writing.Go(func() {
						ids := drawUntil(stop, t, g, book, rand.New(rand.NewPCG(uint64(i), uint64(w))))
						mu.Lock()
						all = append(all, ids)
						if drawn += len(ids); drawn >= 1000 && time.Since(began) >= lasts {
							cancel()
						}
						mu.Unlock()
					})
				}
				for stop.Err() == nil {
					time.Sleep(time.Duration(rnd.IntN(2000)) * time.Microsecond)
					switch rnd.IntN(8) {
					case 0:
						h.revoke()
					case 1, 2:
						clock.offset.Add(rnd.Int64N(int64(2*time.Hour)) - int64(time.Hour))
					case 3:
						clock.offset.Add(rnd.Int64N(int64(20*time.Millisecond)) - int64(10*time.Millisecond))
					default:
						h.raise(time.Duration(rnd.IntN(40)) * time.Millisecond)
					}
				}
				if rnd.IntN(2) == 0 {
					g.Close()
				}
				h.giveBack() // closes the run where the generator has not
				writing.Wait()
				halt()
				honest()
				g.Close()
				h.giveBack() // it may have asked once more
			}
		})
	}
	wg.Wait()
	ids := slices.Concat(all...)
	noDuplicates(t, ids)
	if drawn < 1000 {
		t.Errorf("only %d ids were drawn", drawn)
	}
	t.Logf("%d ids under %d grants", len(ids), len(book.spans))
}

// drawUntil draws singly and in blocks, now and then with a context that ends at
// once, and gives what it got.
func drawUntil(stop context.Context, t *testing.T, g *core.Generator, book *ledger, rnd *rand.Rand) []int64 {
	var got []int64
	block := make([]int64, 300)
	for stop.Err() == nil {
		ctx, cancel := stop, func() {}
		if rnd.IntN(3) == 0 { // often while it waits, with slots reserved
			ctx, cancel = context.WithTimeout(stop, time.Duration(rnd.IntN(1500))*time.Microsecond)
		}
		n := 1
		var err error
		clear(block)
		if rnd.IntN(3) > 0 {
			block[0], err = g.Next(ctx)
		} else {
			n = 1 + rnd.IntN(len(block))
			err = g.Fill(ctx, block[:n])
		}
		cancel()
		if err != nil {
			if block[0] != 0 || block[n-1] != 0 {
				t.Errorf("ids were issued with %v", err)
			}
			if errors.Is(err, core.ErrClosed) {
				return got
			}
			continue
		}
		got = append(got, block[:n]...)
		for _, id := range []int64{block[0], block[n-1]} {
			if p, err := g.Layout().Decode(id); err != nil || !book.allows(p) {
				t.Errorf("%d lies outside every grant: %+v, %v", id, p, err)
				return got
			}
		}
	}
	return got
}
