package core_test

import (
	"context"
	"errors"
	"math"
	"testing"
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
					if err := g.Fill(t.Context(), make([]int64, 41)); err != nil {
						t.Fatal(err)
					}
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
		if err := sony.Fill(t.Context(), make([]int64, 256)); err != nil {
			t.Fatal(err)
		}
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
		time.AfterFunc(200*time.Millisecond, func() { g.Close() })
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrClosed) || time.Since(began) != 200*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// When all that may be borrowed is, the next slot comes with the next tick of
// the clock, and not when it has caught up.
func TestAheadByMaxAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		gr := mustGrant(t, small(), 3, time.Time{}, time.Now().Add(time.Hour))
		g := mustNew(t, core.Config{Worker: holder{gr}, ClockPolicy: core.Logical{MaxAhead: 100 * time.Millisecond}, Now: clock.now})
		if err := g.Fill(t.Context(), make([]int64, 4*100)); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			began := time.Now()
			next(t, g)
			if took := time.Since(began); took > time.Millisecond {
				t.Fatalf("waited %v for a tick of 1ms", took)
			}
		}
	})
}

// Waited and Exhausted count calls, and no call that was refused at once.
func TestWaitsAreCountedByCall(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Layout: small(), Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Wait{Max: time.Second}})
		if err := g.Fill(t.Context(), make([]int64, 400)); err != nil {
			t.Fatal(err)
		}
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

// A successor that has issued nothing yet is not ahead.
func TestAheadCountsIssuedIDsOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Worker: holder{mustGrant(t, small(), 3, time.Now().Add(time.Hour), time.Time{})}, Now: clock.now})
		if st := g.Stats(); st.Ahead != 0 {
			t.Errorf("%+v", st)
		}
		next(t, g)
		if st := g.Stats(); st.Ahead != time.Hour {
			t.Errorf("%+v", st)
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
