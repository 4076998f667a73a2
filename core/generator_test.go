package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
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

func TestNotBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		bound := time.Now().Add(300 * time.Millisecond)
		g := mustNew(t, core.Config{Worker: core.Fixed(1), NotBefore: bound})
		if p := next(t, g); !p.Time.After(bound) {
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
	given := int64(0)
	turn := sourceFunc(func(context.Context, *core.Grant) (*core.Grant, error) { // as a source without a memory
		given++
		return core.NewGrant(plain, given%5, time.Time{}, time.Time{})
	})
	return map[string]core.Config{
		"Logical":  {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Logical{}},
		"Carry":    {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Logical{}, Sequence: core.SequenceCarry},
		"Random":   {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Logical{}, Sequence: core.SequenceRandom},
		"Refuse":   {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Refuse{}},
		"Wait":     {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Wait{Max: 2 * time.Millisecond}},
		"Rollback": {Layout: counted, Worker: core.Fixed(1), ClockPolicy: core.Rollback{}},
		"Reuse":    {Layout: plain, Worker: core.Fixed(1), ClockPolicy: core.Reuse{Window: time.Hour}},
		"Rotate":   {Layout: plain, Worker: turn, ClockPolicy: core.Rotate{}},
	}
}

func TestWaitsAreLimited(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		slow := core.Layout{Tick: 10 * time.Second, TimeBits: 40, SequenceBits: 0}
		g := mustNew(t, core.Config{Layout: slow, Worker: core.Fixed(0), MaxWait: time.Second})
		began := time.Now()
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrSequenceExhausted) || time.Since(began) != 0 {
			t.Errorf("a wait of 10s under MaxWait 1s: %v after %v", err, time.Since(began))
		}
		patient := mustNew(t, core.Config{Layout: slow, Worker: core.Fixed(0)})
		for range 3 {
			next(t, patient)
		}
		if d := time.Since(began); d < 20*time.Second || d > 40*time.Second {
			t.Errorf("3 ids of 10s ticks took %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if _, err := patient.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 0 {
			t.Errorf("a wait that cannot end before the deadline: %v after %v", err, time.Since(began))
		}
	})
}

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
					if st := g.Stats(); !small && st.StepsBack > 0 {
						t.Errorf("a jump that was not followed and passed is no step back: %+v", st)
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
