package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// manual is a wall clock in a bubble: the bubble's time and an offset to set.
type manual struct{ offset time.Duration }

func (m *manual) now() time.Time { return time.Now().Add(m.offset) }

// inBubble runs a test at a time at which every layout has begun.
func inBubble(t *testing.T, f func(t *testing.T, clock *manual)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
		f(t, &manual{})
	})
}

func mustFill(t *testing.T, g *core.Generator, n int) []int64 {
	t.Helper()
	ids := make([]int64, n)
	must(t, g.Fill(t.Context(), ids))
	return ids
}

// nextID returns an id, and next its parts.
func nextID(t *testing.T, g *core.Generator) int64 {
	t.Helper()
	id, err := g.Next(t.Context())
	must(t, err)
	return id
}

func next(t *testing.T, g *core.Generator) core.Parts {
	t.Helper()
	p, err := g.Layout().Decode(nextID(t, g))
	must(t, err)
	return p
}

func clockError(t *testing.T, g *core.Generator, back, tolerated time.Duration) {
	t.Helper()
	var ce *core.ClockError
	if id, err := g.Next(t.Context()); !errors.As(err, &ce) || ce.Back != back || ce.Tolerated != tolerated {
		t.Errorf("Next = %d, %v; want %v back and %v tolerated", id, err, back, tolerated)
	}
	if err := g.Fill(t.Context(), make([]int64, 2)); !errors.As(err, &ce) {
		t.Errorf("Fill = %v", err)
	}
}

func TestWait(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Wait{Max: 50 * time.Millisecond}, MaxWait: 5 * time.Millisecond})
		last := next(t, g)
		clock.offset = -40 * time.Millisecond
		began := time.Now()
		if p := next(t, g); p.Time.Before(last.Time) || time.Since(began) < 39*time.Millisecond || time.Since(began) > 42*time.Millisecond {
			t.Errorf("an id of %v after %v, having waited %v", p.Time, last.Time, time.Since(began))
		}
		clock.offset -= time.Second
		began = time.Now()
		clockError(t, g, time.Second, 50*time.Millisecond)
		if time.Since(began) != 0 {
			t.Errorf("it waited %v for what is beyond Max", time.Since(began))
		}
	})
}

// One bit: steps at 100 → 60 and 105 → 70. A counter that is put back once
// time has passed the old mark would give tick 70 twice.
func TestRollbackKeepsAMarkForEachValue(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Layout{TimeBits: 41, RollbackBits: 1, WorkerBits: 5, SequenceBits: 12}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Rollback{}})
		base := time.Now()
		at := func(tick int) { clock.offset = time.Until(base.Add(time.Duration(tick) * time.Millisecond)) }
		seen := map[int64]bool{}
		draw := func(tick int, rollback int64) {
			t.Helper()
			at(tick)
			id := nextID(t, g)
			p, _ := l.Decode(id)
			if want := base.Add(time.Duration(tick) * time.Millisecond); p.Rollback != rollback || !p.Time.Equal(want) || seen[id] {
				t.Errorf("at %d: %+v, want roll-back %d of %v; seen before: %v", tick, p, rollback, want, seen[id])
			}
			seen[id] = true
		}
		draw(10, 0)
		draw(100, 0)
		draw(60, 1)
		draw(70, 1)
		draw(105, 1) // beyond the mark of value 0
		at(70)
		clockError(t, g, 35*time.Millisecond, 0)
		draw(106, 1)
		at(100) // the last tick of value 0: not free
		clockError(t, g, 6*time.Millisecond, 0)
		at(103) // value 0 ended at 100, so it is free here
		draw(103, 0)
		if st := g.Stats(); st.StepsBack < 3 || st.Issued != 7 {
			t.Errorf("%+v", st)
		}
	})
}

func TestRollbackNeverStartsBelowNotBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Layout{TimeBits: 41, RollbackBits: 3, SequenceBits: 12}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(0), Now: clock.now, ClockPolicy: core.Rollback{}, NotBefore: time.Now().Add(-time.Minute)})
		next(t, g)
		clock.offset = -30 * time.Second
		if p := next(t, g); p.Rollback != 1 {
			t.Errorf("%+v", p)
		}
		clock.offset = -2 * time.Minute
		clockError(t, g, 90*time.Second, 0)
	})
}

func TestReuseIssuesUnusedSlots(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Layout{TimeBits: 41, WorkerBits: 5, SequenceBits: 2}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Now: clock.now, ClockPolicy: core.Reuse{Window: 20 * time.Millisecond}})
		base := time.Now()
		var ids []int64
		for range 10 { // one id in each of ten ticks leaves three over
			time.Sleep(time.Millisecond)
			ids = append(ids, nextID(t, g))
		}
		clock.offset = -5 * time.Millisecond
		if err := g.Fill(t.Context(), make([]int64, 2)); err == nil {
			t.Error("Fill used what was left over")
		}
		first := next(t, g)
		if want := base.Add(5 * time.Millisecond); !first.Time.Equal(want) {
			t.Errorf("the first is of %v, the nearest to the clock is %v", first.Time, want)
		}
		id, _ := l.Compose(first)
		ids = append(ids, id)
		for {
			id, err := g.Next(t.Context())
			if err != nil {
				var ce *core.ClockError
				if !errors.As(err, &ce) || ce.Tolerated != 20*time.Millisecond {
					t.Error(err)
				}
				break
			}
			ids = append(ids, id)
		}
		if len(ids) != 10+9*3 { // the last tick is the present one of the cursor, not a past one
			t.Errorf("%d ids, want 37", len(ids))
		}
		if st := g.Stats(); st.Issued != uint64(len(ids)) {
			t.Errorf("Stats report %d", st.Issued)
		}
		noDuplicates(t, ids)
		clock.offset = -time.Hour
		clockError(t, g, time.Hour, 20*time.Millisecond)
	})
}

// What was passed over is below the fence, so Reuse issues it while new ids wait for the fence, unless the
// grant is revoked.
func TestReuseAtTheFence(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Layout{TimeBits: 41, WorkerBits: 5, SequenceBits: 2}
		began := time.Now()
		gr := mustGrant(t, l, 1, began, began.Add(10*time.Millisecond))
		g := mustNew(t, core.Config{Layout: l, Worker: holder{gr}, Now: clock.now, ClockPolicy: core.Reuse{Window: 20 * time.Millisecond}})
		for range 9 {
			time.Sleep(time.Millisecond)
			next(t, g)
		}
		mustFill(t, g, 3) // the rest of the last tick below the fence
		clock.offset = -5 * time.Millisecond
		if p := next(t, g); !p.Time.Equal(began.Add(4 * time.Millisecond)) {
			t.Errorf("an id of %v after the beginning, want 4ms", p.Time.Sub(began))
		}
		gr.Revoke(nil)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrLost) {
			t.Error(err)
		}
	})
}

// source gives its grants, one after the other, and then an error.
type source struct {
	grants []*core.Grant
	asked  []*core.Grant // the prev of each call
}

func (s *source) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	s.asked = append(s.asked, prev)
	if len(s.grants) == 0 {
		return nil, errors.New("the source is empty")
	}
	g := s.grants[0]
	s.grants = s.grants[1:]
	return g, nil
}

func TestRotate(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Twitter()
		src := &source{}
		for _, worker := range []int64{1, 2, 2, 1} {
			src.grants = append(src.grants, mustGrant(t, l, worker, time.Time{}, time.Time{}))
		}
		g := mustNew(t, core.Config{Worker: src, Now: clock.now, ClockPolicy: core.Rotate{}})
		next(t, g)
		clock.offset = -time.Second
		behind := clock.now()
		if p := next(t, g); p.Worker != 2 || !p.Time.Equal(behind.Add(l.Tick)) { // its last holder may have issued in this tick
			t.Errorf("after a step back to %v: %+v", behind, p)
		}
		if src.asked[1] == nil {
			t.Error("the source did not learn which grant is to be replaced")
		}
		clock.offset = -2 * time.Second
		clockError(t, g, time.Second, 0) // 2 again, and 1, which has ids ahead of the clock
		if len(src.grants) != 0 {
			t.Errorf("%d grants were not asked for", len(src.grants))
		}
		clock.offset = 0
		if p := next(t, g); p.Worker != 2 {
			t.Errorf("the clock is back: %+v", p)
		}
	})
}

// A grant that the generator cannot use does no harm: the error says why, and ids continue under the
// present one as soon as they can.
func TestRefusedGrants(t *testing.T) {
	taken := func(t *testing.T) core.GrantSource {
		gr := mustGrant(t, core.Twitter(), 2, time.Time{}, time.Time{})
		mustNew(t, core.Config{Worker: holder{gr}})
		return holder{gr}
	}
	for name, c := range map[string]struct {
		policy core.ClockPolicy
		next   func(t *testing.T) core.GrantSource
		want   string
	}{
		"in use":            {core.Rotate{}, taken, core.ErrInUse.Error()},
		"the same again":    {core.Rotate{}, func(*testing.T) core.GrantSource { return core.Fixed(1) }, "worker ID 1 was given again"},
		"no other":          {core.Rotate{}, func(*testing.T) core.GrantSource { return refusing{errors.New("no other")} }, "no other"},
		"without a fence":   {core.Logical{Detached: true}, func(*testing.T) core.GrantSource { return core.Fixed(2) }, "needs a grant with a fence"},
		"a worker too high": {core.Rotate{}, func(*testing.T) core.GrantSource { return core.Fixed(1024) }, "Worker 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, clock *manual) {
				first := mustGrant(t, core.Twitter(), 1, time.Now(), time.Now().Add(time.Hour))
				g := mustNew(t, core.Config{Worker: &firstAsks{[]core.GrantSource{holder{first}, c.next(t)}}, Now: clock.now, ClockPolicy: c.policy})
				before := next(t, g)
				clock.offset = -time.Second
				if c.policy != (core.Rotate{}) {
					first.Revoke(nil)
				}
				if _, err := g.Next(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				if clock.offset = 0; c.policy != (core.Rotate{}) {
					return
				}
				if p := next(t, g); p.Worker != 1 || p.Time.Before(before.Time) {
					t.Errorf("%+v after %+v", p, before)
				}
			})
		})
	}
}

// What was issued under any value of the roll-back field counts at the end of
// a grant, and when its worker ID is given again.
func TestRollbackAcrossGrants(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 5, SequenceBits: 12}
		begin := time.Now().Add(-time.Hour)
		src := &source{grants: []*core.Grant{
			mustGrant(t, l, 1, begin, time.Now().Add(time.Hour)),
			mustGrant(t, l, 1, begin, time.Now().Add(time.Hour)), // as a careless source would
		}}
		first, second := src.grants[0], src.grants[1]
		g := mustNew(t, core.Config{Worker: src, Now: clock.now, ClockPolicy: core.Rollback{}})
		seen := map[core.Parts]bool{}
		draw := func(at time.Duration) core.Parts {
			t.Helper()
			clock.offset = at
			p := next(t, g)
			if seen[p] {
				t.Errorf("%+v a second time", p)
			}
			seen[p] = true
			return p
		}
		high := draw(time.Minute)
		draw(0)
		draw(30 * time.Second)
		if unused := first.Close(); !unused.Equal(high.Time.Add(time.Millisecond)) {
			t.Errorf("unused from %v, and an id is of %v", unused, high.Time)
		}
		for clock.offset = time.Minute - time.Millisecond; ; time.Sleep(time.Millisecond) {
			id, err := g.Next(t.Context())
			if errors.As(err, new(*core.ClockError)) { // until the clock has come so far
				continue
			}
			if p, _ := l.Decode(id); err != nil || !p.Time.After(high.Time) {
				t.Errorf("%+v, %v, and under the first grant there was %+v", p, err, high)
			}
			break
		}
		clock.offset = 2 * time.Minute
		if p := draw(2 * time.Minute); !p.Time.After(high.Time) {
			t.Errorf("%+v under the second grant", p)
		}
		clock.offset = 20 * time.Second // where value 1 was in use
		clockError(t, g, 100*time.Second, 0)
		second.Revoke(nil)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrLost) {
			t.Error(err)
		}
	})
}

// A generator made with a Fixed that served another continues above it, though
// the clock went back between the two.
func TestFixedContinuesAboveItsLastGenerator(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		worker := core.Fixed(1)
		g := mustNew(t, core.Config{Worker: worker, Now: clock.now})
		last := next(t, g)
		g.Close()
		clock.offset = -50 * time.Millisecond
		g = mustNew(t, core.Config{Worker: worker, Now: clock.now})
		if p := next(t, g); !p.Time.After(last.Time) {
			t.Errorf("%v after %v", p.Time, last.Time)
		}
		g.Close()
		clock.offset = -time.Hour
		g = mustNew(t, core.Config{Worker: worker, Now: clock.now})
		var ce *core.ClockError
		if id, err := g.Next(t.Context()); !errors.As(err, &ce) {
			t.Errorf("%d, %v", id, err)
		}
	})
}

// Where a tick's sequence begins: at 0, behind the last tick's end, or anywhere; in the lower half, so
// that a tick has at least half of its ids. One id in each tick then has all values of the lower half.
func TestSequenceBegins(t *testing.T) {
	l := core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 4}
	for start, values := range map[core.SequenceStart]int{core.SequenceZero: 1, core.SequenceCarry: 8, core.SequenceRandom: 8} {
		t.Run(start.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *manual) {
				g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Sequence: start})
				seen := map[int64]int{}
				before := next(t, g).Sequence
				for range 800 {
					time.Sleep(time.Millisecond)
					now := next(t, g).Sequence
					if now > 7 || start == core.SequenceCarry && now != (before+1)&7 {
						t.Errorf("sequence %d after %d", now, before)
					}
					seen[now]++
					before = now
				}
				for n, times := range seen {
					if times < 800/values/2 {
						t.Errorf("sequence %d came %d times", n, times)
					}
				}
				began, ids := time.Now(), make([]int64, 1600)
				if err := g.Fill(t.Context(), ids); err != nil || len(seen) != values {
					t.Fatalf("%d values, %v", len(seen), err)
				}
				if ticks := time.Since(began).Milliseconds(); ticks > 1600/8+2 {
					t.Errorf("%d ids took %d ticks", len(ids), ticks)
				}
				noDuplicates(t, ids)
			})
		})
	}
}
