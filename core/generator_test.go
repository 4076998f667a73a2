package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestNewRefuses(t *testing.T) {
	future := core.Layout{Epoch: time.Now().Add(time.Hour).Truncate(time.Millisecond)}
	over := core.Layout{TimeBits: 10, WorkerBits: 5, SequenceBits: 12}
	for _, c := range []struct {
		name string
		cfg  core.Config
		want string
	}{
		{"no worker", core.Config{}, "Worker nil"},
		{"worker too large", core.Config{Worker: core.Fixed(1024)}, "Worker 1024: must be 0 to 1023"},
		{"worker negative", core.Config{Worker: core.Fixed(-1)}, "Worker -1"},
		{"layout", core.Config{Layout: core.Layout{Tick: 1}, Worker: core.Fixed(1)}, "Layout.Tick 1ns"},
		{"all faults", core.Config{Layout: core.Layout{Tick: 1}, MaxWait: -1, ClockPolicy: core.Logical{MaxAhead: -1}}, "Layout.Tick 1ns"},
		{"wait", core.Config{Worker: core.Fixed(1), MaxWait: -time.Second}, "MaxWait -1s"},
		{"sequence", core.Config{Worker: core.Fixed(1), Sequence: 3}, "Sequence 3"},
		{"jump", core.Config{Worker: core.Fixed(1), MaxJump: -time.Second}, "MaxJump -1s"},
		{"rollback", core.Config{Worker: core.Fixed(1), ClockPolicy: core.Rollback{}}, "RollbackBits"},
		{"wait max", core.Config{Worker: core.Fixed(1), ClockPolicy: core.Wait{Max: -1}}, "ClockPolicy.Max -1ns"},
		{"window", core.Config{Worker: core.Fixed(1), ClockPolicy: core.Reuse{Window: 2 * time.Hour}}, "ClockPolicy.Window 2h0m0s"},
		{"future epoch", core.Config{Layout: future, Worker: core.Fixed(1)}, "is in the future"},
		{"time over", core.Config{Layout: over, Worker: core.Fixed(1)}, "has run out"},
		{"not before", core.Config{Worker: core.Fixed(1), NotBefore: core.Twitter().End()}, "NotBefore"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := core.New(c.cfg)
			if err == nil || g != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	var ce *core.ConfigError
	if _, err := core.New(core.Config{Layout: core.Layout{Tick: 1}, MaxWait: -1, ClockPolicy: core.Logical{MaxAhead: -1}}); !errors.As(err, &ce) || len(ce.Fields) != 4 {
		t.Errorf("want 4 faults, got %v", err)
	}
	if _, err := core.New(core.Config{Layout: over, Worker: core.Fixed(1)}); !errors.Is(err, core.ErrTimestampExhausted) {
		t.Error(err)
	}
}

func TestOneFixedServesOneGenerator(t *testing.T) {
	worker := core.Fixed(5)
	g := mustNew(t, core.Config{Worker: worker})
	if _, err := core.New(core.Config{Worker: worker}); !errors.Is(err, core.ErrInUse) {
		t.Fatal(err)
	}
	g.Close()
	if _, err := core.New(core.Config{Worker: worker, MaxWait: -1}); err == nil {
		t.Fatal("a bad Config was taken")
	}
	mustNew(t, core.Config{Worker: worker})
	// A New that fails late leaves the worker free.
	late := core.Fixed(9999)
	for range 2 {
		if _, err := core.New(core.Config{Worker: late}); errors.Is(err, core.ErrInUse) || err == nil {
			t.Error(err)
		}
	}
}

func TestNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		bound := time.Now().Add(300 * time.Millisecond)
		g := mustNew(t, core.Config{Worker: core.Fixed(1), NotBefore: bound})
		id, err := g.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := core.Twitter().Decode(id); !p.Time.After(bound) {
			t.Errorf("the first id is of %v, not after %v", p.Time, bound)
		}
		far := mustNew(t, core.Config{Worker: core.Fixed(1), NotBefore: time.Now().Add(time.Hour)})
		var ce *core.ClockError
		if _, err := far.Next(t.Context()); !errors.As(err, &ce) || ce.Back < 59*time.Minute {
			t.Errorf("an hour ahead: %v", err)
		}
	})
}

// steppingClock is a wall clock that tests push back and forth.
type steppingClock struct{ offset atomic.Int64 }

func (c *steppingClock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// noDuplicates fails on an id that is there twice.
func noDuplicates(t *testing.T, ids []int64) {
	t.Helper()
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			t.Fatalf("id %d was issued twice among %d", ids[i], len(ids))
		}
	}
}

// policies are all answers to a clock that steps back, each with what it needs.
func policies() map[string]core.Config {
	plain := core.Layout{TimeBits: 41, WorkerBits: 8, SequenceBits: 14}
	counted := core.Layout{TimeBits: 41, RollbackBits: 4, WorkerBits: 4, SequenceBits: 14}
	return map[string]core.Config{
		"Logical":  {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Logical{}},
		"Carry":    {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Logical{}, Sequence: core.SequenceCarry},
		"Random":   {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Logical{}, Sequence: core.SequenceRandom},
		"Refuse":   {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Refuse{}},
		"Wait":     {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Wait{Max: 2 * time.Millisecond}},
		"Rollback": {Layout: counted, Worker: core.Fixed(1), ClockPolicy: core.Rollback{}},
		"Reuse":    {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Reuse{Window: time.Hour}},
		"Rotate":   {Layout: plain, Worker: &workerIDs{of: 5}, ClockPolicy: core.Rotate{}},
	}
}

// workerIDs gives the worker IDs 0, 1, … in turn, and then the same again, as
// a source without a memory would.
type workerIDs struct {
	of    int64
	given int64 // New and the generator ask one at a time
}

func (n *workerIDs) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	n.given++
	return core.NewGrant(core.Layout{TimeBits: 41, WorkerBits: 8, SequenceBits: 14}, (n.given-1)%n.of, time.Time{}, time.Time{})
}

// Ids ascend in these.
func ordered(name string) bool { return name != "Rollback" && name != "Reuse" && name != "Rotate" }

// 16 goroutines draw singly and in blocks, while the clock steps by anything
// between a millisecond and an hour to either side.
func TestNoDuplicateUnderClockSteps(t *testing.T) {
	const writers = 16
	each := 10_000_000 / writers
	if testing.Short() {
		each /= 20
	} else if raceEnabled {
		each /= 4 // test.sh runs it without the race detector, too
	}
	for name, cfg := range policies() {
		t.Run(name, func(t *testing.T) {
			var clock steppingClock
			cfg.Now, cfg.MaxWait, cfg.MaxJump = clock.now, 20*time.Millisecond, 24*time.Hour
			g := mustNew(t, cfg)
			var all [writers][]int64
			var stepsBack, refused atomic.Int64
			steps := []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour}
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					all[w] = make([]int64, 0, each+1000)
					block := make([]int64, 1000)
					rnd := rand.New(rand.NewPCG(1, uint64(w)))
					for last := int64(0); len(all[w]) < each; {
						if rnd.IntN(100) == 0 {
							d := steps[rnd.IntN(len(steps))]
							step := rnd.Int64N(2*int64(d)) - int64(d)
							if clock.offset.Add(step); step < 0 {
								stepsBack.Add(1)
							}
						}
						n := 1
						var err error
						if rnd.IntN(4) > 0 {
							block[0], err = g.Next(t.Context())
						} else {
							n = 1 + rnd.IntN(len(block))
							err = g.Fill(t.Context(), block[:n])
						}
						if err != nil {
							var ce *core.ClockError
							if !errors.As(err, &ce) && !errors.Is(err, core.ErrSequenceExhausted) || name == "Logical" && ce != nil {
								t.Error(err)
								return
							}
							refused.Add(1)
							clock.offset.Add(time.Minute.Nanoseconds()) // forward again
							continue
						}
						for i, id := range block[:n] {
							if id <= last && (ordered(name) || i > 0) {
								t.Errorf("%d came after %d in one goroutine", id, last)
								return
							}
							last = id
						}
						all[w] = append(all[w], block[:n]...)
					}
				})
			}
			wg.Wait()
			ids := slices.Concat(all[:]...)
			noDuplicates(t, ids)
			st := g.Stats()
			if st.Issued < uint64(len(ids)) || stepsBack.Load() < 10 {
				t.Errorf("%d ids are out, and Stats report %+v", len(ids), st)
			}
			t.Logf("%d ids, %d refusals, %d steps back", len(ids), refused.Load(), stepsBack.Load())
		})
	}
}

// A generator that is closed and made anew without a pause continues above the
// last id, under full load.
func TestRestartWithoutAPause(t *testing.T) {
	worker := core.Fixed(7)
	var ids []int64
	rounds := 500
	if testing.Short() {
		rounds = 100
	}
	for range rounds {
		g, err := core.New(core.Config{Worker: worker, MaxWait: time.Minute}) // longer than this process may pause
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 2 {
			wg.Go(func() {
				block := make([]int64, 700)
				if err := g.Fill(t.Context(), block); err != nil && !errors.Is(err, core.ErrClosed) {
					t.Error(err)
				} else if err == nil {
					mu.Lock()
					ids = append(ids, block...)
					mu.Unlock()
				}
				for {
					id, err := g.Next(t.Context())
					if errors.Is(err, core.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					ids = append(ids, id)
					mu.Unlock()
				}
			})
		}
		for g.Stats().Issued < 1000 && !t.Failed() {
			time.Sleep(10 * time.Microsecond)
		}
		g.Close()
		wg.Wait()
	}
	noDuplicates(t, ids)
}

func TestCancelledCallsIssueNothing(t *testing.T) {
	g := mustNew(t, core.Config{Worker: core.Fixed(1)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if id, err := g.Next(ctx); !errors.Is(err, context.Canceled) || id != 0 {
		t.Errorf("Next = %d, %v", id, err)
	}
	ids := []int64{-1, -2}
	if err := g.Fill(ctx, ids); !errors.Is(err, context.Canceled) || ids[0] != -1 || ids[1] != -2 {
		t.Errorf("Fill = %v, ids %v", err, ids)
	}
	if n := g.Stats().Issued; n != 0 {
		t.Errorf("%d issued", n)
	}
}

// A Next that is cancelled while it waits burns nothing: the next id is the one
// it would have had.
func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		l := core.Layout{Tick: 10 * time.Second, TimeBits: 40, SequenceBits: 1}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(0)})
		if err := g.Fill(t.Context(), make([]int64, 2)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		if id, err := g.Next(ctx); !errors.Is(err, context.Canceled) || id != 0 || time.Since(began) != time.Second {
			t.Errorf("Next = %d, %v after %v", id, err, time.Since(began))
		}
		if n := g.Stats().Issued; n != 2 {
			t.Errorf("%d issued", n)
		}
		if p := next(t, g); p.Sequence != 0 {
			t.Errorf("the next id is %+v", p)
		}
	})
}

// A Fill that is cut off in the middle leaves ids alone, and what comes after
// it continues above what it took.
// A Fill that makes headway is bounded by its context alone.
func TestWaitsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		slow := core.Layout{Tick: 10 * time.Second, TimeBits: 40, SequenceBits: 0}
		g := mustNew(t, core.Config{Layout: slow, Worker: core.Fixed(0), MaxWait: time.Second})
		began := time.Now()
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrSequenceExhausted) || time.Since(began) != 0 {
			t.Errorf("a wait of 10s under MaxWait 1s: %v after %v", err, time.Since(began))
		}
		patient := mustNew(t, core.Config{Layout: slow, Worker: core.Fixed(0)})
		for range 3 {
			if _, err := patient.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(began); d < 20*time.Second || d > 40*time.Second {
			t.Errorf("3 ids of 10s ticks took %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := patient.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestCloseWakesWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		g := mustNew(t, core.Config{Layout: core.Layout{Tick: time.Hour, TimeBits: 40}, Worker: core.Fixed(0)})
		got := make(chan error)
		go func() { _, err := g.Next(t.Context()); got <- err }()
		synctest.Wait()
		g.Close()
		if err := <-got; !errors.Is(err, core.ErrClosed) {
			t.Error(err)
		}
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrClosed) {
			t.Error(err)
		}
		g.Close()
	})
}

func TestRefuseReportsTheDistance(t *testing.T) {
	var clock steppingClock
	g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Refuse{}})
	if _, err := g.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.offset.Store(-int64(time.Hour))
	var ce *core.ClockError
	if _, err := g.Next(t.Context()); !errors.As(err, &ce) || ce.Back < 59*time.Minute || ce.Back > 61*time.Minute {
		t.Errorf("an hour back gives %v", err)
	}
	clock.offset.Store(int64(time.Second))
	if _, err := g.Next(t.Context()); err != nil {
		t.Errorf("the clock has caught up: %v", err)
	}
}

// The default continues through a step back of any size, and its lead shrinks.
func TestLogicalContinuesAfterAStepBack(t *testing.T) {
	var clock steppingClock
	g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now})
	last, err := g.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	clock.offset.Store(-24 * int64(time.Hour))
	for range 20_000 {
		id, err := g.Next(t.Context())
		if err != nil || id <= last {
			t.Fatalf("%d after %d: %v", id, last, err)
		}
		last = id
	}
	if ahead := g.Stats().Ahead; ahead < 23*time.Hour || ahead > 25*time.Hour {
		t.Errorf("Stats.Ahead = %v", ahead)
	}
}

// A Fill in many separate parts, again and again: what one has borrowed for its
// parts must not turn up in the next.

// A jump ahead beyond MaxJump is accepted only when it has persisted for ten seconds.
// Meanwhile ids continue in the old time, with every policy.
func TestJumpsAhead(t *testing.T) {
	for _, name := range []string{"Logical", "Refuse", "Wait", "Rollback", "Reuse", "Rotate"} {
		for _, jump := range []time.Duration{time.Second, time.Hour, 365 * 24 * time.Hour} {
			t.Run(fmt.Sprint(name, "/", jump), func(t *testing.T) {
				cfg := policies()[name]
				inBubble(t, func(t *testing.T, clock *manual) {
					var seen []core.Event
					cfg.Now, cfg.Observer = clock.now, observer(func(e core.Event) { seen = append(seen, e) })
					g := mustNew(t, cfg)
					next(t, g)
					small := jump <= time.Minute

					clock.offset = jump // for a moment
					time.Sleep(time.Millisecond)
					if p := next(t, g); p.Time.After(time.Now().Add(time.Second)) {
						t.Errorf("a jump of %v: an id of %v at %v", jump, p.Time, time.Now())
					}
					clock.offset = 0
					time.Sleep(2 * time.Second)
					next(t, g)

					clock.offset = jump // for good
					time.Sleep(time.Millisecond)
					next(t, g)
					time.Sleep(9 * time.Second)
					if p := next(t, g); !small && p.Time.After(time.Now()) {
						t.Errorf("followed after 9s: %v", p.Time)
					}
					time.Sleep(2 * time.Second)
					if p := next(t, g); p.Time.Before(time.Now().Add(jump - time.Second)) {
						t.Errorf("not followed after 11s: %v", p.Time)
					}
					kinds := map[core.EventKind]int{}
					for _, e := range seen {
						kinds[e.Kind]++
					}
					if want := map[bool]int{true: 0, false: 1}[small]; kinds[core.ClockJumpAccepted] != want || kinds[core.ClockJump] != 2*want {
						t.Errorf("events %v", seen)
					}
				})
			})
		}
	}
}

type observer func(core.Event)

func (o observer) Observe(e core.Event) { o(e) }

// A leap second that repeats a second, and one that is smeared over a day.
func TestLeapSecond(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now})
		var last int64
		draw := func() {
			t.Helper()
			id, err := g.Next(t.Context())
			if err != nil || id <= last {
				t.Fatalf("%d after %d: %v", id, last, err)
			}
			last = id
		}
		draw()
		clock.offset = -time.Second
		for range 100 {
			time.Sleep(15 * time.Millisecond)
			draw()
		}
		if ahead := g.Stats().Ahead; ahead != 0 {
			t.Errorf("%v ahead: the lead has not gone by itself", ahead)
		}
		for i := range 1000 { // a second in a thousand steps
			clock.offset = -time.Second - time.Duration(i)*time.Millisecond
			time.Sleep(86400 * time.Millisecond)
			draw()
		}
	})
}

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
