package core_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A running generator that takes over a Fixed goes, at no step back and under no
// roll-back value, below what another issued with it.
func TestRollbackUnderAFixedInTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		seen := map[core.Parts]bool{}
		draw := func(g *core.Generator, n int) {
			t.Helper()
			for range n {
				id, err := g.Next(t.Context())
				if errors.As(err, new(*core.ClockError)) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if p, _ := small().Decode(id); seen[p] {
					t.Fatalf("%+v a second time", p)
				} else {
					seen[p] = true
				}
			}
		}
		two := core.Fixed(2)
		one := mustGrant(t, small(), 1, time.Time{}, time.Time{})
		g := mustNew(t, core.Config{Layout: small(), Worker: &firstAsks{[]core.GrantSource{holder{one}, two}}, Now: clock.now, ClockPolicy: core.Rollback{}})
		draw(g, 1)
		other := mustNew(t, core.Config{Layout: small(), Worker: two, Now: clock.now, ClockPolicy: core.Rollback{}})
		time.Sleep(time.Second)
		draw(other, 1)
		clock.offset = -100 * time.Millisecond
		draw(other, 4) // value 1
		other.Close()
		clock.offset = 0
		time.Sleep(time.Second)
		one.Revoke(nil)
		draw(g, 1)
		clock.offset = -1103 * time.Millisecond
		draw(g, 20)
	})
}

// A grant that is closed in the moment in which a generator takes it reports
// what is unused, and no wrong instant.
func TestGrantClosedDuringAHandover(t *testing.T) {
	given := make(chan *core.Grant, 1)
	var wrong atomic.Pointer[time.Time]
	done := make(chan struct{})
	go func() {
		defer close(done)
		for gr := range given {
			for range time.Now().UnixNano() % 3000 { // any moment of the taking over
				_ = wrong.Load()
			}
			if at := gr.Close(); at.After(time.Now().Add(time.Minute)) {
				wrong.Store(&at)
			}
		}
	}()
	worker := &endless{given: given}
	g := mustNew(t, core.Config{Worker: worker})
	worker.last.Revoke(nil)
	lasts := time.Second
	if testing.Short() {
		lasts = 100 * time.Millisecond
	}
	for began := time.Now(); time.Since(began) < lasts; {
		if _, err := g.Next(t.Context()); err != nil && !errors.Is(err, core.ErrLost) {
			t.Error(err)
			break
		}
	}
	g.Close()
	close(given)
	<-done
	if at := wrong.Load(); at != nil {
		t.Errorf("unused from %v", at)
	}
}

// endless gives one grant after the other, from the epoch on, and reports each.
type endless struct {
	given chan *core.Grant
	n     int64
	last  *core.Grant
}

func (e *endless) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	e.n++
	gr, err := core.NewGrant(core.Twitter(), e.n%1024, time.Time{}, time.Time{})
	e.last = gr
	if e.n > 1 { // the first is New's, and is left alone
		select {
		case e.given <- gr:
		default:
		}
	}
	return gr, err
}

// Detached needs a fence under every grant.
func TestDetachedNeedsAFenceInASuccessor(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		first := mustGrant(t, l, 3, now, now.Add(time.Hour))
		g := mustNew(t, core.Config{Worker: &firstAsks{[]core.GrantSource{holder{first}, core.Fixed(4)}}, ClockPolicy: core.Logical{Detached: true}})
		if _, err := g.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		first.Revoke(nil)
		if id, err := g.Next(t.Context()); !errors.As(err, new(*core.ConfigError)) {
			t.Errorf("%d, %v", id, err)
		}
	})
}

// A pause while New reads Config.Now must not put the generator's clock ahead: the
// next one, which knows nothing of it, would issue the same ids.
func TestPauseWhileNewReadsTheClock(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		pause := 300 * time.Millisecond
		now := func() time.Time { time.Sleep(pause); pause = 0; return time.Now() }
		ids := make([]int64, 1600)
		for i := range 2 {
			g := mustNew(t, core.Config{Layout: small(), Worker: core.Fixed(1), Now: now})
			if err := g.Fill(t.Context(), ids[i*800:][:800]); err != nil {
				t.Fatal(err)
			}
			g.Close()
		}
		noDuplicates(t, ids)
	})
}

// spent gives grants that are used up already.
type spent struct{ asked int }

func (s *spent) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	s.asked++
	now := time.Now()
	return core.NewGrant(core.Twitter(), int64(s.asked), now, now)
}

// Grants that are used up are waited for once, not each anew.
func TestOneWaitForExhaustedGrants(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		g := mustNew(t, core.Config{Worker: &spent{}, Now: clock.now})
		began := time.Now()
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrFenced) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A panic while a grant is replaced costs no worker ID.
func TestPanicDuringAHandover(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		two, broken := core.Fixed(2), false
		now := func() time.Time {
			if broken {
				panic("no clock")
			}
			return clock.now()
		}
		one := mustGrant(t, core.Twitter(), 1, time.Time{}, time.Time{})
		g := mustNew(t, core.Config{Worker: &firstAsks{[]core.GrantSource{holder{one}, two}}, Now: now})
		func() {
			defer func() { _ = recover() }()
			one.Revoke(nil)
			broken = true
			_, _ = g.Next(t.Context())
			t.Error("no panic")
		}()
		mustNew(t, core.Config{Worker: two})
	})
}

// A panic in the Observer during New costs no worker ID.
func TestPanicInTheObserver(t *testing.T) {
	l := core.Layout{Epoch: time.Now().Add(-time.Hour).Truncate(time.Millisecond), TimeBits: 35, SequenceBits: 4}
	worker := core.Fixed(0)
	func() {
		defer func() { _ = recover() }()
		_, _ = core.New(core.Config{Layout: l, Worker: worker, Observer: observer(func(core.Event) { panic("no log") })})
		t.Error("no panic")
	}()
	mustNew(t, core.Config{Layout: l, Worker: worker})
}

// Another worker ID may begin ahead of the clock where its grant does, though it was
// in use before.
func TestRotateBackToAWorkerIDUsedBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		later := time.Now().Add(10 * time.Minute)
		grants := []core.GrantSource{
			holder{mustGrant(t, small(), 3, time.Time{}, time.Time{})}, holder{mustGrant(t, small(), 4, time.Time{}, time.Time{})},
			holder{mustGrant(t, small(), 3, later, time.Time{})},
		}
		g := mustNew(t, core.Config{Worker: &firstAsks{grants}, ClockPolicy: core.Rotate{}, Now: clock.now, MaxJump: 24 * time.Hour})
		next(t, g)
		clock.offset = -time.Minute
		next(t, g)
		clock.offset = -2 * time.Minute
		if p := next(t, g); p.Worker != 3 || !p.Time.Equal(later) {
			t.Errorf("%+v, the grant begins at %v", p, later)
		}
	})
}

// A grant ahead of the clock that a running generator takes over begins where it
// says, however long the generator has run.
func TestLaterGrantAheadOfTheClock(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		from := time.Now().Add(time.Hour)
		first := mustGrant(t, small(), 3, time.Time{}, time.Time{})
		grants := []core.GrantSource{holder{first}, holder{mustGrant(t, small(), 4, from, time.Time{})}}
		g := mustNew(t, core.Config{Worker: &firstAsks{grants}, Now: clock.now})
		next(t, g)
		time.Sleep(10 * time.Minute)
		first.Revoke(nil)
		began, ids := time.Now(), make([]int64, 40)
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		p, _ := small().Decode(ids[39])
		if took := time.Since(began); took < 8*time.Millisecond || took > 10*time.Millisecond || p.Time.Sub(from) > took {
			t.Errorf("10 ticks took %v, to %v after the grant's beginning", took, p.Time.Sub(from))
		}
	})
}

// What is unused begins right behind the last id, also where that was the last of
// its tick.
func TestFirstUnusedAtATicksEnd(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		for _, n := range []int{0, 1, 4095, 4096, 4097, 8192} {
			gr := mustGrant(t, l, 3, now, now.Add(time.Hour))
			g := mustNew(t, core.Config{Worker: holder{gr}, ClockPolicy: core.Logical{Detached: true}})
			if err := g.Fill(t.Context(), make([]int64, n)); err != nil {
				t.Fatal(err)
			}
			if got, want := gr.Close(), now.Add(time.Duration(n+4095)/4096*time.Millisecond); !got.Equal(want) {
				t.Errorf("%d ids: unused from %v, want %v", n, got, want)
			}
		}
	})
}

// The error at the fence says why there is no other grant either, and is not
// taken for a loss.
func TestFencedReportsTheSourcesError(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		down := errors.New("the store is down")
		gr := mustGrant(t, l, 3, now, now.Add(10*time.Millisecond))
		g := mustNew(t, core.Config{Worker: &firstAsks{[]core.GrantSource{holder{gr}, refusing{down}}}})
		time.Sleep(time.Second)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrFenced) || !errors.Is(err, down) || errors.Is(err, core.ErrLost) {
			t.Error(err)
		}
		same := mustGrant(t, l, 3, time.Now(), time.Now().Add(10*time.Millisecond))
		g = mustNew(t, core.Config{Worker: holder{same}})
		time.Sleep(time.Second)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrFenced) || errors.Is(err, core.ErrLost) {
			t.Error(err)
		}
	})
}

type refusing struct{ err error }

func (f refusing) Grant(context.Context, *core.Grant) (*core.Grant, error) { return nil, f.err }
