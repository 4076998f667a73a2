package core_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// small bears four ids a millisecond.
func small() core.Layout {
	return core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 4, SequenceBits: 2}
}

// A clock behind the grant's first tick starts there, and from there on ids have
// all the room that passing time gives them, with every policy and whether
// or not there is a fence; the wall clock may even go back meanwhile.
func TestGrantAheadOfTheClock(t *testing.T) {
	answers := map[string]core.ClockPolicy{
		"Logical": core.Logical{MaxAhead: time.Millisecond}, "Refuse": core.Refuse{}, "Wait": core.Wait{},
		"Rollback": core.Rollback{}, "Reuse": core.Reuse{}, "Rotate": core.Rotate{},
	}
	for name, answer := range answers {
		for _, bounded := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/", bounded), func(t *testing.T) {
				inBubble(t, func(t *testing.T, clock *manual) {
					now := time.Now()
					from, until := now.Add(time.Minute), time.Time{}
					if bounded {
						until = now.Add(time.Hour)
					}
					g := mustNew(t, core.Config{Worker: holder{mustGrant(t, small(), 3, from, until)}, ClockPolicy: answer, Now: clock.now})
					if p := next(t, g); !p.Time.Equal(from) || time.Since(now) != 0 {
						t.Fatalf("begins at %v after %v, the grant at %v", p.Time, time.Since(now), from)
					}
					clock.offset = -time.Hour
					ids := make([]int64, 4*100-1)
					if err := g.Fill(t.Context(), ids); err != nil {
						t.Fatal(err)
					}
					p, _ := g.Layout().Decode(ids[len(ids)-1])
					if lead := p.Time.Sub(from) - time.Since(now); lead > time.Millisecond || lead < -time.Millisecond {
						t.Errorf("a hundred ticks took %v and end %v after from", time.Since(now), p.Time.Sub(from))
					}
					if took := time.Since(now); took < 98*time.Millisecond || took > 100*time.Millisecond {
						t.Errorf("a hundred ticks took %v", took)
					}
					// The lead is the grant's, not the clock's: idle time takes it back.
					clock.offset = 0
					time.Sleep(2 * time.Minute)
					if p := next(t, g); !p.Time.Equal(time.Now().Truncate(time.Millisecond)) {
						t.Errorf("an id of %v at %v", p.Time, time.Now())
					}
					noDuplicates(t, ids)
				})
			})
		}
	}
}

// Where the lead is smaller than a grant's, a real step back is still one.
func TestStepBackBelowTheGrantClock(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		from := time.Now().Add(time.Second)
		g := mustNew(t, core.Config{Worker: holder{mustGrant(t, small(), 3, from, time.Time{})}, ClockPolicy: core.Refuse{}, Now: clock.now})
		next(t, g)
		clock.offset = time.Minute
		next(t, g)
		clock.offset = 0
		clockError(t, g, 59*time.Second, 0) // the grant clock has reached 1s
	})
}

// A grant of another worker ID continues above the last id, as far ahead as the grant
// before it was.
func TestGrantClockIsInherited(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		from := time.Now().Add(time.Hour)
		first := mustGrant(t, small(), 3, from, time.Time{})
		second := mustGrant(t, small(), 4, time.Time{}, time.Time{})
		g := mustNew(t, core.Config{Worker: &firstAsks{[]core.GrantSource{holder{first}, holder{second}}}, Now: clock.now})
		last := next(t, g)
		first.Revoke(errors.New("taken"))
		for range 10 {
			p := next(t, g)
			if p.Time.Before(last.Time) || p.Worker != 4 {
				t.Fatalf("%+v after %+v", p, last)
			}
			last = p
		}
	})
}

// Rotate to a grant that begins ahead of the clock begins there.
func TestRotateToAGrantAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		from := time.Now().Add(-time.Minute)
		grants := []core.GrantSource{
			holder{mustGrant(t, small(), 3, time.Time{}, time.Time{})},
			holder{mustGrant(t, small(), 4, from, from.Add(time.Hour))},
		}
		g := mustNew(t, core.Config{Worker: &firstAsks{grants}, ClockPolicy: core.Rotate{}, Now: clock.now})
		next(t, g)
		clock.offset = -time.Hour
		var p core.Parts
		for range 8 {
			p = next(t, g)
		}
		if p.Worker != 4 || p.Time.Before(from) || p.Time.After(from.Add(time.Second)) {
			t.Errorf("%+v, the grant begins at %v", p, from)
		}
	})
}

// A panic in Config.Now reaches the caller of New, and costs no worker ID.
func TestPanicInNow(t *testing.T) {
	worker := core.Fixed(1)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = core.New(core.Config{Worker: worker, Now: func() time.Time { panic("no clock") }})
	}()
	mustNew(t, core.Config{Worker: worker})
}

// Two jumps of a moment each, at which a call happens to come, are not one
// that persists; one that is there each time is accepted, however rare the calls
// are.
func TestJumpsAtRareCalls(t *testing.T) {
	for _, again := range []bool{false, true} {
		inBubble(t, func(t *testing.T, clock *manual) {
			g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now})
			jump := func() {
				t.Helper()
				clock.offset = 24 * time.Hour
				for range 5 {
					if p := next(t, g); p.Time.After(time.Now()) {
						t.Errorf("followed: %v", p.Time)
					}
				}
			}
			next(t, g)
			jump()
			time.Sleep(20 * time.Second)
			jump()
			time.Sleep(20 * time.Second)
			if again {
				if p := next(t, g); p.Time.Before(time.Now().Add(23 * time.Hour)) {
					t.Errorf("not followed: %v", p.Time)
				}
				return
			}
			clock.offset = 0
			next(t, g)
			jump()
		})
	}
}

// Rotate leaves the line of the old grant behind.
func TestRotateInheritsNoGrantClock(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		grants := []core.GrantSource{
			holder{mustGrant(t, small(), 3, time.Now().Add(time.Hour), time.Time{})},
			holder{mustGrant(t, small(), 4, time.Time{}, time.Time{})},
		}
		g := mustNew(t, core.Config{Worker: &firstAsks{grants}, ClockPolicy: core.Rotate{}, Now: clock.now, MaxJump: 24 * time.Hour})
		clock.offset = 2 * time.Hour
		next(t, g)
		clock.offset = 0
		for range 20 {
			if p := next(t, g); p.Worker != 4 || p.Time.After(time.Now()) {
				t.Fatalf("%+v at %v", p, time.Now())
			}
		}
	})
}

// A roll-back goes by the grant's line too, and keeps it.
func TestRollbackKeepsTheGrantClock(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		start := time.Now()
		g := mustNew(t, core.Config{Worker: holder{mustGrant(t, small(), 3, start.Add(time.Hour), time.Time{})}, ClockPolicy: core.Rollback{}, Now: clock.now, MaxJump: 24 * time.Hour})
		for i, at := range []time.Duration{2 * time.Hour, 90 * time.Minute, 0} {
			clock.offset = at
			p := next(t, g)
			if want := start.Add(max(at, time.Hour)); p.Rollback != int64(i) || p.Time.Sub(want).Abs() > time.Second {
				t.Errorf("at %v: %+v, want value %d of %v", at, p, i, want)
			}
		}
	})
}

// Rotate to the worker ID in use is refused, and named.
func TestRotateToTheSameWorkerID(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		grants := []core.GrantSource{
			holder{mustGrant(t, small(), 3, time.Time{}, time.Time{})}, holder{mustGrant(t, small(), 3, time.Time{}, time.Time{})},
		}
		g := mustNew(t, core.Config{Worker: &firstAsks{grants}, ClockPolicy: core.Rotate{}, Now: clock.now})
		next(t, g)
		clock.offset = -time.Hour
		if _, err := g.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "worker ID 3 was given again") {
			t.Error(err)
		}
	})
}

// So it is for a grant that begins in the very next tick.
func TestGrantOneTickAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		from := time.Now().Add(time.Millisecond)
		g := mustNew(t, core.Config{Worker: holder{mustGrant(t, small(), 3, from, time.Time{})}, Now: clock.now})
		if p := next(t, g); !p.Time.Equal(from) || !time.Now().Before(from) {
			t.Errorf("%v at %v", p.Time, time.Now())
		}
	})
}
