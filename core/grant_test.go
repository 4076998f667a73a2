package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// holder hands out one grant, as a lease would.
type holder struct{ grant *core.Grant }

func (h holder) Grant(context.Context, *core.Grant) (*core.Grant, error) { return h.grant, nil }

func bubble(t *testing.T, f func(t *testing.T, l core.Layout, now time.Time)) {
	synctest.Test(t, func(t *testing.T) {
		l := core.Twitter()
		time.Sleep(time.Until(l.Epoch) + time.Hour)
		f(t, l, time.Now())
	})
}

func mustGrant(t *testing.T, l core.Layout, worker int64, from, until time.Time) *core.Grant {
	t.Helper()
	gr, err := core.NewGrant(l, worker, from, until)
	must(t, err)
	return gr
}

// Ids stay below the fence whatever the clock says, and continue when it rises.
func TestFence(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		until := now.Add(50 * time.Millisecond)
		gr := mustGrant(t, l, 3, now, until)
		g := mustNew(t, core.Config{Worker: holder{gr}, MaxWait: 200 * time.Millisecond})
		ids := make([]int64, 4096)
		var err error
		var last int64
		for err == nil {
			if err = g.Fill(t.Context(), ids); err == nil {
				last = ids[len(ids)-1]
			}
		}
		if !errors.Is(err, core.ErrFenced) {
			t.Fatal(err)
		}
		if p, _ := l.Decode(last); !p.Time.Before(until) || p.Worker != 3 {
			t.Errorf("an id of %v, worker %d, under a grant of 3 until %v", p.Time, p.Worker, until)
		}
		if d := time.Since(now); d < 200*time.Millisecond || d > 300*time.Millisecond {
			t.Errorf("gave up after %v", d)
		}
		gr.RaiseFence(now) // lowers nothing
		time.AfterFunc(100*time.Millisecond, func() { gr.RaiseFence(time.Now().Add(time.Second)) })
		began := time.Now()
		id, err := g.Next(t.Context())
		if err != nil || id <= last || time.Since(began) != 100*time.Millisecond {
			t.Errorf("after Raise: %d, %v, having waited %v", id, err, time.Since(began))
		}
	})
}

// Below a fence, ids may run ahead of the clock by MaxAhead and no farther. They do not run ahead of the
// grant clock.
func TestAheadOfTheClockBelowAFence(t *testing.T) {
	for _, c := range []struct{ from, took, tick time.Duration }{
		{0, 0, time.Millisecond},
		{5 * time.Millisecond, 5 * time.Millisecond, time.Millisecond},
		{time.Minute, 30 * time.Millisecond, 3 * time.Millisecond},
	} {
		t.Run(fmt.Sprint(c.from), func(t *testing.T) {
			bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
				gr := mustGrant(t, l, 3, now.Add(c.from), now.Add(time.Hour))
				g := mustNew(t, core.Config{Worker: holder{gr}, ClockPolicy: core.Logical{MaxAhead: 10 * time.Millisecond}})
				ids := mustFill(t, g, 11*4096)
				if waited := time.Since(now); waited.Round(time.Millisecond/2) != c.took {
					t.Errorf("11 ticks under MaxAhead 10ms took %v, want %v", waited, c.took)
				}
				p, _ := l.Decode(ids[0])
				if !p.Time.Equal(now.Add(c.from)) {
					t.Errorf("begins at %v, not at the grant's %v", p.Time, now.Add(c.from))
				}
				noDuplicates(t, ids)
				for range 20 { // then a tick comes at the clock's speed, and not only when that has caught up
					began := time.Now()
					if err := g.Fill(t.Context(), ids[:4096]); err != nil || time.Since(began) > c.tick+time.Microsecond {
						t.Fatalf("waited %v for a tick of 1ms: %v", time.Since(began), err)
					}
				}
			})
		})
	}
}

// A generator that is ahead of the clock, because its ticks are full, continues at once under a grant that
// also begins ahead of the clock.
func TestReplacedWhileAhead(t *testing.T) {
	for from := time.Duration(0); from <= 10*time.Second; from += time.Second {
		bubble(t, func(t *testing.T, _ core.Layout, now time.Time) {
			src := &source{grants: []*core.Grant{
				mustGrant(t, small(), 3, now, now.Add(30*time.Second)), mustGrant(t, small(), 4, now.Add(from), now.Add(30*time.Second)),
			}}
			first := src.grants[0]
			g := mustNew(t, core.Config{Worker: src})
			ids := mustFill(t, g, 4*10_000)
			first.Revoke(nil)
			ids = append(ids, mustFill(t, g, 4*100)...)
			if took := time.Since(now); took > 101*time.Millisecond {
				t.Errorf("from %v: a hundred ticks took %v", from, took)
			}
			noDuplicates(t, ids)
		})
	}
}

// MaxAhead is at most half of the time to the first fence, also if that has risen before the grant is taken.
func TestMaxAheadBeyondTheFence(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		gr := mustGrant(t, l, 3, now, now.Add(20*time.Millisecond))
		gr.RaiseFence(now.Add(time.Hour))
		g := mustNew(t, core.Config{Worker: holder{gr}})
		mustFill(t, g, 11*4096)
		if took := time.Since(now); took > 0 {
			t.Errorf("11 ticks took %v", took)
		}
		if mustFill(t, g, 5*4096); time.Since(now).Round(time.Millisecond) != 5*time.Millisecond {
			t.Errorf("16 ticks took %v", time.Since(now))
		}
	})
}

func TestRevokedAndClosedGrants(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		cause := errors.New("somebody took the row")
		gr := mustGrant(t, l, 3, now, now.Add(time.Hour))
		g := mustNew(t, core.Config{Worker: holder{gr}})
		last := next(t, g)
		gr.Revoke(cause)
		gr.RaiseFence(now.Add(2 * time.Hour)) // too late to help
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrLost) || !errors.Is(err, cause) {
			t.Errorf("after Revoke: %v", err)
		}
		if unused := gr.Close(); !unused.Equal(last.Time.Add(l.Tick)) {
			t.Errorf("first unused is %v, the last id is of %v", unused, last.Time)
		}
		if _, err := core.New(core.Config{Worker: holder{gr}}); !errors.Is(err, core.ErrLost) {
			t.Errorf("New on a closed grant: %v", err)
		}
		unusedGrant := mustGrant(t, l, 4, now, now.Add(time.Hour))
		if at := unusedGrant.Close(); !at.Equal(now) {
			t.Errorf("a grant never used is unused from %v", at)
		}
	})
}

func TestNewGrantRefuses(t *testing.T) {
	l := core.Twitter()
	now := time.Now()
	for name, try := range map[string]func() (*core.Grant, error){
		"Worker 1024": func() (*core.Grant, error) { return core.NewGrant(l, 1024, now, time.Time{}) },
		"from":        func() (*core.Grant, error) { return core.NewGrant(l, 1, l.End(), time.Time{}) },
		"fence":       func() (*core.Grant, error) { return core.NewGrant(l, 1, now, now.Add(-time.Hour)) },
		"Tick":        func() (*core.Grant, error) { return core.NewGrant(core.Layout{Tick: 1}, 1, now, now) },
	} {
		t.Run(name, func(t *testing.T) {
			if gr, err := try(); err == nil || gr != nil || !strings.Contains(err.Error(), name) {
				t.Error(err)
			}
		})
	}
	for name, w := range map[string]core.GrantSource{"no grant": holder{}, "an error": refusing{errors.New("the store is down")}} {
		if _, err := core.New(core.Config{Worker: w}); err == nil || !strings.Contains(err.Error(), "no worker ID") {
			t.Errorf("a Worker that gives %s: %v", name, err)
		}
	}
}

// small allows four ids a millisecond.
func small() core.Layout {
	return core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 4, SequenceBits: 2}
}

// A clock behind the grant's first tick starts there, and from there on ids have
// a third of the room that passing time gives them, so that the clock catches up, with every policy
// and whether or not there is a fence; the wall clock may even go back meanwhile.
func TestGrantAheadOfTheClock(t *testing.T) {
	answers := map[string]core.ClockPolicy{
		"Logical": core.Logical{}, "Refuse": core.Refuse{}, "Wait": core.Wait{},
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
					ids := mustFill(t, g, 4*100-1)
					p, _ := g.Layout().Decode(ids[len(ids)-1])
					if lead := p.Time.Sub(from) - time.Since(now)/3; lead > time.Millisecond || lead < -time.Millisecond {
						t.Errorf("a hundred ticks took %v and end %v after from", time.Since(now), p.Time.Sub(from))
					}
					if took := time.Since(now); took < 290*time.Millisecond || took > 300*time.Millisecond {
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

// If a grant begins ahead of the clock, its ids begin there and continue from there, also when the
// clock steps, at a roll-back, and under the next grant, unless that is for lower times.
func TestGrantClock(t *testing.T) {
	type grant struct {
		worker int64
		from   time.Duration // from the start of the test
	}
	type step struct {
		offset           time.Duration // of the wall clock
		worker, rollback int64
		at               time.Duration // of the id, from the start of the test
	}
	const long = -1000 * time.Hour
	for name, c := range map[string]struct {
		policy core.ClockPolicy
		grants []grant
		revoke bool // the present grant, before each step but the first
		steps  []step
	}{
		"after a loss":                  {nil, []grant{{3, time.Hour}, {4, long}}, true, []step{{0, 3, 0, time.Hour}, {0, 4, 0, time.Hour}}},
		"under a later grant":           {nil, []grant{{3, long}, {4, time.Hour}}, true, []step{{0, 3, 0, 0}, {0, 4, 0, time.Hour}}},
		"at a roll-back":                {core.Rollback{}, []grant{{3, time.Hour}}, false, []step{{2 * time.Hour, 3, 0, 2 * time.Hour}, {90 * time.Minute, 3, 1, 90 * time.Minute}, {0, 3, 2, time.Hour}}},
		"Rotate to one ahead":           {core.Rotate{}, []grant{{3, long}, {4, -time.Minute}}, false, []step{{0, 3, 0, 0}, {-time.Hour, 4, 0, -time.Minute}}},
		"Rotate inherits none":          {core.Rotate{}, []grant{{3, time.Hour}, {4, long}}, false, []step{{2 * time.Hour, 3, 0, 2 * time.Hour}, {0, 4, 0, 0}}},
		"Rotate to one that was used":   {core.Rotate{}, []grant{{3, long}, {4, long}, {3, 10 * time.Minute}}, false, []step{{0, 3, 0, 0}, {-time.Minute, 4, 0, -time.Minute}, {-2 * time.Minute, 3, 0, 10 * time.Minute}}},
		"a step back that goes further": {core.Refuse{}, []grant{{3, time.Second}}, false, []step{{0, 3, 0, time.Second}, {time.Minute, 3, 0, time.Minute}, {0, -1, 0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, clock *manual) {
				start, src := time.Now(), &source{}
				for _, gr := range c.grants {
					src.grants = append(src.grants, mustGrant(t, small(), gr.worker, start.Add(gr.from), time.Time{}))
				}
				grants := slices.Clone(src.grants)
				g := mustNew(t, core.Config{Worker: src, ClockPolicy: c.policy, Now: clock.now, MaxJump: 24 * time.Hour})
				for i, s := range c.steps {
					if clock.offset = s.offset; c.revoke && i > 0 {
						grants[i-1].Revoke(nil)
					}
					if s.worker < 0 {
						clockError(t, g, 59*time.Second+11*time.Millisecond, 0) // the grant clock has reached 1s, and is 11ms behind by now
						continue
					}
					for n := range 20 { // five ticks
						p := next(t, g)
						if late := p.Time.Sub(start.Add(s.at)); p.Worker != s.worker || p.Rollback != s.rollback || late < 0 || late > time.Since(start)+time.Millisecond {
							t.Fatalf("step %d, id %d: %+v, %v after %v", i, n, p, late, s.at)
						}
					}
				}
			})
		})
	}
}

// state fails unless the grant is as it should be.
func state(t *testing.T, what string, gr *core.Grant, done bool) {
	t.Helper()
	is := false
	select {
	case <-gr.Done():
		is = true
	default:
	}
	if is != done {
		t.Errorf("%s: done %v, want %v", what, is, done)
	}
}

// A grant is done as soon as no generator has it or will have it, and no earlier.
func TestDone(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		now := time.Now()
		fresh := func() *core.Grant { return mustGrant(t, small(), 3, now, now.Add(time.Hour)) }

		gr := fresh()
		state(t, "new", gr, false)
		gr.Revoke(nil)
		state(t, "revoked and never taken", gr, true)
		gr.Close() // is no panic
		gr = fresh()
		gr.Close()
		state(t, "closed and never taken", gr, true)

		gr = fresh()
		g := mustNew(t, core.Config{Worker: holder{gr}})
		state(t, "in use", gr, false)
		if _, err := core.New(core.Config{Worker: holder{gr}}); !errors.Is(err, core.ErrInUse) {
			t.Error(err)
		}
		state(t, "after another New", gr, false)
		g.Close()
		state(t, "generator closed", gr, true)
		g.Close()

		gr = fresh()
		g = mustNew(t, core.Config{Worker: holder{gr}})
		gr.Close()
		state(t, "closed under its generator", gr, false)
		g.Close()
		state(t, "and then the generator", gr, true)

		gr = mustGrant(t, small(), 3, now.Add(-time.Hour), now.Add(time.Hour))
		g = mustNew(t, core.Config{Worker: holder{gr}, Now: clock.now, ClockPolicy: core.Rollback{}})
		next(t, g)
		clock.offset = -time.Minute
		gr2 := next(t, g)
		state(t, "under another roll-back value", gr, false)
		if gr2.Rollback != 1 {
			t.Errorf("%+v: the test shows nothing", gr2)
		}
		g.Close()
		state(t, "and closed", gr, true)
		clock.offset = 0

		a, b := fresh(), mustGrant(t, small(), 4, now, now.Add(time.Hour))
		g = mustNew(t, core.Config{Worker: &source{grants: []*core.Grant{a, b}}})
		next(t, g)
		a.Revoke(nil)
		state(t, "revoked, before any call", a, false)
		next(t, g)
		state(t, "given up", a, true)
		state(t, "taken instead", b, false)

		a, b = fresh(), mustGrant(t, core.Twitter(), 4, now, now.Add(time.Hour))
		g = mustNew(t, core.Config{Worker: &source{grants: []*core.Grant{a, b}}})
		a.Revoke(nil)
		if _, err := g.Next(t.Context()); !errors.As(err, new(*core.ConfigError)) {
			t.Error(err)
		}
		state(t, "kept for want of another", a, false)
		state(t, "refused", b, true)
	})
}

// New gives back the grant with which it fails, at whatever step.
func TestDoneAfterAFailedNew(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    core.Config
		worker int64
		fenced bool
	}{
		"another layout":     {core.Config{Layout: core.Discord()}, 1, true},
		"worker ID too high": {core.Config{Layout: core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 4}}, 4, true},
		"NotBefore":          {core.Config{NotBefore: core.Twitter().End()}, 1, true},
		"the epoch":          {core.Config{Now: func() time.Time { return time.Unix(0, 0) }}, 1, true},
		"time over":          {core.Config{Now: core.Twitter().End}, 1, true},
		"ClockPolicy":        {core.Config{ClockPolicy: core.Rollback{}}, 1, true},
		"no fence":           {core.Config{ClockPolicy: core.Logical{Detached: true}}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *manual) {
				now, fence := time.Now(), time.Time{}
				if c.fenced {
					fence = now.Add(time.Hour)
				}
				gr := mustGrant(t, core.Twitter(), c.worker, now, fence)
				c.cfg.Worker = holder{gr}
				if _, err := core.New(c.cfg); err == nil {
					t.Error("no error")
				}
				state(t, name, gr, true)
				if at := gr.Close(); !at.Equal(now) {
					t.Errorf("unused from %v, want %v", at, now)
				}
			})
		})
	}
	gr := mustGrant(t, core.Twitter(), 1, time.Now(), time.Now().Add(time.Hour))
	if _, err := core.New(core.Config{Worker: holder{gr}, MaxWait: -1}); err == nil {
		t.Error("no error")
	}
	state(t, "a configuration for which the grant is not asked for", gr, false)
}

// A GrantSource learns why another grant is wanted.
func TestRegrantReason(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		now := time.Now()
		var grants []*core.Grant
		for n := range int64(5) {
			grants = append(grants, mustGrant(t, small(), n, time.Time{}, now.Add(time.Hour)))
		}
		grants[1] = mustGrant(t, small(), 1, time.Time{}, now.Add(time.Minute))
		left, why := &source{grants: slices.Clone(grants)}, []core.RegrantReason(nil)
		asked := sourceFunc(func(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
			if prev != nil {
				why = append(why, prev.RegrantReason())
			}
			return left.Grant(ctx, prev)
		})
		g := mustNew(t, core.Config{Worker: asked, Now: clock.now, ClockPolicy: core.Rotate{}})
		next(t, g)
		if why := grants[0].RegrantReason(); why != core.RegrantNone {
			t.Error(why)
		}
		grants[0].Revoke(nil)
		next(t, g)
		time.Sleep(2 * time.Minute) // beyond the fence of the second
		next(t, g)
		clock.offset = -time.Minute
		next(t, g)
		grants[3].Close()
		next(t, g)
		if want := []core.RegrantReason{core.RegrantLost, core.RegrantExhausted, core.RegrantRotate, core.RegrantLost}; !slices.Equal(why, want) {
			t.Errorf("%v, want %v", why, want)
		}
	})
}

// A generator that issued nothing has used nothing, wherever NotBefore or a wrong
// clock had put its beginning: a caller that gives back the rest must not give back a year.
func TestUnusedGrantIsReturnedWhole(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		now := time.Now()
		for name, cfg := range map[string]core.Config{
			"NotBefore": {NotBefore: now.Add(1000 * time.Hour)},
			"clock":     {Now: func() time.Time { return now.Add(1000 * time.Hour) }},
		} {
			gr := mustGrant(t, core.Twitter(), 3, now, now.Add(time.Minute))
			cfg.Worker = holder{gr}
			g := mustNew(t, cfg)
			if id, err := g.Next(t.Context()); err == nil {
				t.Errorf("%s: id %d beyond the fence", name, id)
			}
			g.Close()
			if at := gr.Close(); !at.Equal(now) {
				t.Errorf("%s: unused from %v, want %v", name, at, now)
			}
		}
		three := core.Fixed(3)
		g := mustNew(t, core.Config{Worker: three})
		last := next(t, g)
		g.Close()
		g = mustNew(t, core.Config{Worker: three, NotBefore: now.Add(1000 * time.Hour)})
		g.Close()
		clock.offset = -100 * time.Millisecond // and what was issued before it still counts
		g = mustNew(t, core.Config{Worker: three, Now: clock.now})
		if p := next(t, g); !p.Time.After(last.Time) || p.Time.Sub(last.Time) > time.Second {
			t.Errorf("%v after %v", p.Time, last.Time)
		}
	})
}

// A grant that is closed at any moment of a step back under Rollback has used what
// its generator issued before the step, though the new value has issued nothing.
func TestClosedDuringARollback(t *testing.T) {
	for at := range 12 {
		inBubble(t, func(t *testing.T, clock *manual) {
			gr := mustGrant(t, small(), 3, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
			left := -1 // readings of the clock until the grant is closed
			now := func() time.Time {
				if left--; left == 0 {
					gr.Close()
				}
				return clock.now()
			}
			g := mustNew(t, core.Config{Worker: holder{gr}, Now: now, ClockPolicy: core.Rollback{}})
			last := next(t, g)
			clock.offset, left = -time.Minute, at
			_, _ = g.Next(t.Context())
			if unused := gr.Close(); !unused.After(last.Time) {
				t.Errorf("closed at reading %d: unused from %v, and there is an id of %v", at, unused, last.Time)
			}
		})
	}
}

// revokes is a Worker that loses the first few grants while they are on their way.
type revokes struct {
	t     *testing.T
	lose  int
	asked int
	last  *core.Grant
}

var errTaken = errors.New("taken")

func (w *revokes) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	w.asked++
	w.last = mustGrant(w.t, core.Layout{}, int64(w.asked), time.Now(), time.Now().Add(time.Minute))
	if w.lose--; w.lose >= 0 {
		w.last.Revoke(errTaken)
	}
	return w.last, nil
}

// A grant that is revoked between the Worker and the generator is asked for again, and
// not forever: by New, and by a generator that has lost its grant.
func TestGrantRevokedBeforeUse(t *testing.T) {
	for _, lose := range []int{0, 1, 5} {
		t.Run(fmt.Sprint(lose), func(t *testing.T) {
			w := &revokes{t: t, lose: lose}
			gen := mustNew(t, core.Config{Worker: w})
			first := next(t, gen)
			if w.asked != lose+1 {
				t.Errorf("asked %d times", w.asked)
			}
			w.lose = lose
			w.last.Revoke(errTaken)
			if p := next(t, gen); p == first || w.asked != 2*(lose+1) {
				t.Errorf("%+v after %+v, asked %d times", p, first, w.asked)
			}
			w.lose = 1000
			w.last.Revoke(errTaken)
			if id, err := gen.Next(t.Context()); !errors.Is(err, core.ErrLost) {
				t.Errorf("all are lost: %d, %v", id, err)
			}
		})
	}
	w := &revokes{t: t, lose: 1000}
	if _, err := core.New(core.Config{Worker: w}); !errors.Is(err, core.ErrLost) || !errors.Is(err, errTaken) || w.asked > 20 {
		t.Errorf("asked %d times: %v", w.asked, err)
	}
}
