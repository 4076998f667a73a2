package core_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

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
