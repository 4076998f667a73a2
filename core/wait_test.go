package core_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Waits as long as a Duration can say are no shorter ones.
func TestEndlessWaits(t *testing.T) {
	for name, cfg := range map[string]core.Config{
		"MaxWait":  {MaxWait: math.MaxInt64},
		"Wait.Max": {MaxWait: time.Second, ClockPolicy: core.Wait{Max: math.MaxInt64}},
		"both":     {MaxWait: math.MaxInt64, ClockPolicy: core.Wait{}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, clock *manual) {
				cfg.Layout, cfg.Worker, cfg.Now = small(), core.Fixed(1), clock.now
				g := mustNew(t, cfg)
				for range 3 {
					mustFill(t, g, 41)
					if cfg.ClockPolicy != nil {
						clock.offset -= time.Hour
					}
				}
			})
		})
	}
}

// A short wait notices within two milliseconds that it is cancelled; a long one
// at once, and so does one that the generator's end ends.
func TestWaitsEndOnAChange(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Layout: core.Seconds(), Worker: core.Fixed(1), Now: clock.now, MaxWait: time.Minute})
		sony := mustNew(t, core.Config{Layout: core.Sonyflake(), Worker: core.Fixed(1), Now: clock.now})
		mustFill(t, sony, 256)
		for _, x := range []struct {
			of          *core.Generator
			after, late time.Duration
		}{{sony, time.Millisecond, 2 * time.Millisecond}, {g, 300 * time.Millisecond, 0}} {
			ctx, cancel := context.WithCancel(t.Context())
			began := time.Now()
			time.AfterFunc(x.after, cancel)
			if _, err := x.of.Next(ctx); !errors.Is(err, context.Canceled) || time.Since(began) > x.after+x.late {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		began := time.Now()
		time.AfterFunc(200*time.Millisecond, g.Close)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrClosed) || time.Since(began) != 200*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// Waited and Exhausted count calls, and no call that was refused at once.
func TestWaitsAreCountedByCall(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Layout: small(), Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Wait{Max: time.Second}})
		mustFill(t, g, 400)
		if st := g.Stats(); st.Waited != 1 || st.Exhausted != 1 {
			t.Errorf("one Fill: %+v", st)
		}
		clock.offset = -time.Minute
		clockError(t, g, time.Minute, time.Second)
		if st := g.Stats(); st.Waited != 1 {
			t.Errorf("a refusal was counted: %+v", st)
		}
	})
}

// The steps of a clock that jumps back and forth are reported once a second.
func TestEventsAreRare(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		told := map[core.EventKind]int{}
		g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now, Observer: observer(func(e core.Event) { told[e.Kind]++ })})
		for i := range 1000 {
			clock.offset = time.Duration(i%3-1) * time.Hour
			next(t, g)
			time.Sleep(10 * time.Millisecond)
		}
		if told[core.ClockJump] > 12 || told[core.ClockStepBack] > 12 || told[core.ClockStepBack] == 0 {
			t.Errorf("in ten seconds: %v", told)
		}
	})
}

// A jump that is not followed leaves a clock behind its ids where it is.
func TestJumpFromBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Layout{TimeBits: 41, RollbackBits: 1, WorkerBits: 4, SequenceBits: 8}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Rollback{}})
		next(t, g)
		for _, offset := range []time.Duration{-time.Hour, 24 * time.Hour, -time.Hour} {
			clock.offset = offset
			if p := next(t, g); p.Rollback != 1 || time.Since(p.Time) < 59*time.Minute {
				t.Errorf("at %v: %+v", offset, p)
			}
			time.Sleep(time.Second)
		}
	})
}

// What no clock can reach is refused, and so is a layout without a tick to
// issue in; what lies at the very end of the time that can be said is not.
func TestFarTimes(t *testing.T) {
	l := core.Sonyflake()
	today := l.Epoch.AddDate(12, 0, 0) // and not the day of the test, from which it may lie beyond the layout
	gr := mustGrant(t, l, 1, today.AddDate(150, 0, 0), time.Time{})
	if _, err := core.New(core.Config{Worker: holder{gr}, Now: func() time.Time { return today }}); !errors.As(err, new(*core.ConfigError)) {
		t.Errorf("from in 150 years: %v", err)
	}
	one := core.Layout{Epoch: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Tick: 4 * 365 * 24 * time.Hour, TimeBits: 1, SequenceBits: 63, Unsigned: true}
	if err := one.Validate(); err == nil {
		t.Errorf("%v is taken", one)
	}
	all := core.Layout{TimeBits: 64, Unsigned: true}
	if at := mustGrant(t, all, 0, all.End().Add(-1), time.Time{}).Close(); at.Before(all.End().Add(-time.Second)) {
		t.Errorf("a grant from the end on begins at %v", at)
	}
	for _, years := range []float64{0.1, 0.6, 0.99} {
		seconds := years * float64(all.End().Unix()-core.Twitter().Epoch.Unix())
		wall := time.Unix(core.Twitter().Epoch.Unix()+int64(seconds), 0)
		g := mustNew(t, core.Config{Layout: all, Worker: core.Fixed(0), Now: func() time.Time { wall = wall.Add(time.Millisecond); return wall }})
		if p := next(t, g); p.Time.Sub(wall).Abs() > time.Second {
			t.Errorf("%v at %v", p.Time, wall)
		}
	}
}

// A call that was paused for longer than it may wait, at whichever look at the clock,
// finds that a slot has come meanwhile: it is no error that says "in 0s".
func TestPausedCall(t *testing.T) {
	for name, back := range map[string]core.ClockPolicy{"Logical": nil, "Refuse": core.Refuse{}, "Wait": core.Wait{Max: time.Second}} {
		t.Run(name, func(t *testing.T) {
			for at := range 8 {
				inBubble(t, func(t *testing.T, _ *manual) {
					reads := -1 << 30
					now := func() time.Time {
						read := time.Now()
						if reads++; reads == at {
							time.Sleep(5 * time.Second)
						}
						return read
					}
					g := mustNew(t, core.Config{Layout: small(), Worker: core.Fixed(1), Now: now, ClockPolicy: back})
					mustFill(t, g, 40)
					for i := range 40 {
						reads = -1
						if _, err := g.Next(t.Context()); err != nil {
							t.Fatalf("paused at look %d of call %d: %v", at, i, err)
						}
					}
				})
			}
		})
	}
}

var coarse = core.Layout{Tick: 10 * time.Millisecond, TimeBits: 40, WorkerBits: 3, SequenceBits: 2}

// inOrder calls Next ten times at once, next to a goroutine that fills without end, and moves time on
// by step. All must get ids, in the order in which they asked.
func inOrder(t *testing.T, g *core.Generator, step func()) {
	ctx, stop := context.WithCancel(t.Context())
	var wg, filling sync.WaitGroup
	filling.Go(func() {
		for block := make([]int64, 40); ctx.Err() == nil; {
			if err := g.Fill(ctx, block); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	synctest.Wait()
	var ids [10]int64
	for i := range ids {
		wg.Go(func() {
			var err error
			if ids[i], err = g.Next(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
	}
	step()
	wg.Wait()
	stop()
	filling.Wait()
	if !slices.IsSorted(ids[:]) {
		t.Errorf("out of order: %v", ids)
	}
}

// Calls that wait at the fence are in line too: a Fill without end does not take all that a higher
// fence allows.
func TestCallsWaitInLineAtTheFence(t *testing.T) {
	for name, policy := range map[string]core.ClockPolicy{"ahead": nil, "detached": core.Logical{Detached: true}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, clock *manual) {
				fence := time.Now().Add(20 * time.Millisecond)
				gr := mustGrant(t, coarse, 1, time.Now(), fence)
				g := mustNew(t, core.Config{Layout: coarse, Worker: holder{gr}, ClockPolicy: policy, MaxWait: time.Minute})
				inOrder(t, g, func() {
					for range 10 { // by a tick each time: half of it is the Fill's
						fence = fence.Add(10 * time.Millisecond)
						gr.RaiseFence(fence)
						time.Sleep(3 * time.Millisecond)
					}
				})
				gr.RaiseFence(fence.Add(time.Second)) // for the last Fill
			})
		})
	}
}

// So are those that wait for a tick, or for a clock that has stepped back; and a large Fill leaves half of
// each tick to others.
func TestCallsWaitInLine(t *testing.T) {
	for _, back := range []time.Duration{0, 5 * time.Second} {
		t.Run(back.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, clock *manual) {
				g := mustNew(t, core.Config{Layout: coarse, Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Wait{Max: time.Minute}})
				mustFill(t, g, 4)
				clock.offset -= back
				began := time.Now()
				inOrder(t, g, func() {})
				if took := time.Since(began); took < back || took > back+62*time.Millisecond { // five ticks of two ids
					t.Errorf("the last call took %v", took)
				}
			})
		})
	}
}

// A call that waits while the clock is beyond the fence has reserved no slot, whose time would be old.
func TestNoOldTimeWhenTheFenceRises(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		gr := mustGrant(t, coarse, 1, time.Now(), time.Now().Add(10*time.Millisecond))
		g := mustNew(t, core.Config{Layout: coarse, Worker: holder{gr}, MaxWait: time.Minute})
		mustFill(t, g, 4)
		time.Sleep(30 * time.Second)
		began := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				id, err := g.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				if p, err := coarse.Decode(id); err != nil || p.Time.Before(began.Add(-10*time.Millisecond)) {
					t.Errorf("an id of %v at %v, %v", p.Time, began, err)
				}
			})
		}
		synctest.Wait()
		gr.RaiseFence(time.Now().Add(time.Hour))
		wg.Wait()
	})
}

// The error says up to where ids are issued or reserved, when the next is due, and how long the
// call has waited. One that cannot get an id in time does not wait.
func TestErrorOfALongLine(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Layout: coarse, Worker: core.Fixed(1), MaxWait: 50 * time.Millisecond})
		mustFill(t, g, 4)
		var wg sync.WaitGroup
		var failed atomic.Int64
		began := time.Now()
		due := regexp.MustCompile(`^core: sequence exhausted: all ids before \S+ are issued or reserved; the next is due in (\d\d)ms, and the call has waited 0s of at most 50ms`)
		for range 30 {
			wg.Go(func() {
				_, err := g.Next(t.Context())
				if err == nil {
					return
				}
				failed.Add(1)
				m := due.FindStringSubmatch(fmt.Sprint(err))
				if m == nil || m[1] != "60" || !errors.Is(err, core.ErrSequenceExhausted) || time.Since(began) != 0 {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		}
		wg.Wait()
		if n := failed.Load(); n != 10 { // five ticks of four ids are within 50 ms
			t.Errorf("%d failed", n)
		}
	})
}

// The precise timers are shared by the process: generators in two bubbles and outside may wait at once.
func TestBubblesShareTimers(t *testing.T) {
	crowd := func(t *testing.T, g *core.Generator) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 100 {
					if _, err := g.Next(t.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	narrow := core.Layout{TimeBits: 41, WorkerBits: 3, SequenceBits: 2}
	for i := range 2 {
		t.Run(fmt.Sprint("bubble ", i), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, _ *manual) {
				for range 3 {
					crowd(t, mustNew(t, core.Config{Layout: narrow, Worker: core.Fixed(1)}))
				}
			})
		})
		t.Run(fmt.Sprint("no bubble ", i), func(t *testing.T) {
			t.Parallel()
			crowd(t, mustNew(t, core.Config{Layout: narrow, Worker: core.Fixed(1)}))
		})
	}
}

// Under every ClockPolicy, while the clock steps, calls are cancelled, fences rise, grants are
// revoked and given back and generators are closed: no id comes twice, none is outside its grant,
// a call that begins after another gets a greater id where that is promised, and ids continue.
func TestReservationsAtRandom(t *testing.T) {
	runs := uint64(10)
	if testing.Short() {
		runs = 3
	}
	for name, policy := range map[string]core.ClockPolicy{
		"Logical": core.Logical{}, "Near": core.Logical{MaxAhead: 3 * time.Millisecond}, "Detached": core.Logical{Detached: true},
		"Refuse": core.Refuse{}, "Wait": core.Wait{Max: 20 * time.Millisecond}, "Rollback": core.Rollback{},
		"Reuse": core.Reuse{Window: 50 * time.Millisecond}, "Rotate": core.Rotate{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range runs {
				inBubble(t, func(t *testing.T, _ *manual) { atRandom(t, policy, rand.New(rand.NewPCG(seed, 0))) })
			}
		})
	}
}

func atRandom(t *testing.T, policy core.ClockPolicy, rnd *rand.Rand) {
	l := core.Layout{TimeBits: 41, RollbackBits: 3, WorkerBits: 4, SequenceBits: uint8(rnd.IntN(4))}
	var clock steppingClock
	book := newLedger(l, 12, time.Duration(5+rnd.IntN(40))*time.Millisecond, rnd.Uint64(), clock.now)
	for worker := range int64(12) {
		book.until[worker] = clock.now()
	}
	ordered := true
	switch policy.(type) {
	case core.Rollback, core.Reuse, core.Rotate:
		ordered = false
	}
	var mu sync.Mutex
	var all []int64
	var waited uint64
	const generators = 4
	for range generators {
		h := &holding{ledger: book}
		g := mustNew(t, core.Config{Layout: l, Worker: h, ClockPolicy: policy, Now: clock.now, MaxWait: 30 * time.Millisecond, MaxJump: 24 * time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		var greatest atomic.Int64 // of the calls that have returned
		var wg sync.WaitGroup
		for range 6 {
			rnd := rand.New(rand.NewPCG(rnd.Uint64(), 1))
			wg.Go(func() {
				for ctx.Err() == nil {
					call, end := context.WithTimeout(ctx, time.Duration(1+rnd.IntN(8000))*time.Microsecond)
					if rnd.IntN(2) == 0 {
						call = ctx
					}
					ids, before := make([]int64, 1), greatest.Load()
					if rnd.IntN(3) == 0 {
						ids = make([]int64, 1+rnd.IntN(40))
						_ = g.Fill(call, ids) // it leaves zeros, or fills all
					} else {
						ids[0], _ = g.Next(call)
					}
					end()
					time.Sleep(time.Duration(rnd.IntN(300)) * time.Microsecond)
					mu.Lock()
					if ids[0] != 0 {
						if ordered && ids[0] <= before || !slices.IsSorted(ids) {
							t.Errorf("%v after %d", ids, before)
						}
						greatest.Store(max(greatest.Load(), ids[len(ids)-1]))
						all = append(all, ids...)
					}
					mu.Unlock()
				}
			})
		}
		for range 40 {
			time.Sleep(time.Duration(rnd.IntN(4000)) * time.Microsecond)
			switch rnd.IntN(8) {
			case 0:
				h.revoke()
			case 1:
				clock.offset.Add(rnd.Int64N(int64(60*time.Millisecond)) - int64(30*time.Millisecond))
			case 2:
				clock.offset.Add(rnd.Int64N(int64(6*time.Millisecond)) - int64(3*time.Millisecond))
			default:
				h.raise(time.Duration(rnd.IntN(10)) * time.Millisecond)
			}
		}
		end := rnd.IntN(3)
		switch end { // while calls wait
		case 0:
			h.giveBack()
		case 1:
			g.Close()
		}
		time.Sleep(5 * time.Millisecond)
		cancel()
		wg.Wait()
		time.Sleep(time.Minute) // the clock has caught up
		h.raise(time.Hour)
		if id, err := g.Next(t.Context()); err == nil {
			all = append(all, id)
		} else if end != 1 {
			t.Errorf("ids do not continue: %v", err)
		}
		waited += g.Stats().Waited
		g.Close()
		h.giveBack()
	}
	for _, id := range all {
		if p, err := l.Decode(id); err != nil || !book.allows(p) {
			t.Fatalf("%d is outside every grant: %+v, %v", id, p, err)
		}
	}
	noDuplicates(t, all)
	// How many there are is up to chance: Refuse and Wait issue few after a step back. At the end each
	// generator adds at most one.
	if waited == 0 || len(all) <= generators {
		t.Errorf("%d ids, %d calls waited", len(all), waited)
	}
}
