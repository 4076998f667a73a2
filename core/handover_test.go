package core_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestDetached(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Twitter()
		from := time.Now().Add(-24 * time.Hour)
		gr := mustGrant(t, l, 1, from, from.Add(10*time.Millisecond))
		g := mustNew(t, core.Config{Worker: holder{gr}, Now: clock.now, ClockPolicy: core.Logical{Detached: true}, MaxWait: time.Second})
		ids := mustFill(t, g, 10*4096)
		first, _ := l.Decode(ids[0])
		last, _ := l.Decode(ids[len(ids)-1])
		if !first.Time.Equal(from) || !last.Time.Equal(from.Add(9*time.Millisecond)) {
			t.Errorf("from %v to %v", first.Time, last.Time)
		}
		noDuplicates(t, ids)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrFenced) {
			t.Error(err)
		}
		gr.Revoke(nil)
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrLost) {
			t.Error(err)
		}
		if _, err := core.New(core.Config{Worker: core.Fixed(1), ClockPolicy: core.Logical{Detached: true}}); err == nil || !strings.Contains(err.Error(), "a grant with a fence") {
			t.Errorf("without a fence: %v", err)
		}
	})
}

// firstAsks forwards to one Worker after the other, as if each were new.
type firstAsks struct{ workers []core.GrantSource }

func (f *firstAsks) Grant(ctx context.Context, _ *core.Grant) (*core.Grant, error) {
	if len(f.workers) == 0 {
		return nil, errors.New("no more")
	}
	w := f.workers[0]
	f.workers = f.workers[1:]
	return w.Grant(ctx, nil)
}

// A pause while Config.Now is read must not put ids ahead of the clock.
func TestPauseInNow(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		var pause time.Duration
		now := func() time.Time { time.Sleep(pause); pause = 0; return time.Now() }
		l := core.Layout{TimeBits: 41, WorkerBits: 5, SequenceBits: 2}
		g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Now: now})
		for range 3 {
			pause = 300 * time.Millisecond
			ids := mustFill(t, g, 800)
			if p, _ := l.Decode(ids[len(ids)-1]); p.Time.After(time.Now()) {
				t.Errorf("%v ahead of a clock that never stepped", time.Until(p.Time))
			}
		}
		if st := g.Stats(); st.StepsBack != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestGrantSourceThatHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		gr := mustGrant(t, core.Twitter(), 3, time.Time{}, time.Time{})
		silent := sourceFunc(func(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
			if prev == nil {
				return gr, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		g := mustNew(t, core.Config{Worker: silent, Now: clock.now, MaxWait: 2 * time.Second})
		next(t, g)
		gr.Revoke(nil)
		began := time.Now()
		answers := make(chan error)
		for range 2 {
			go func() { _, err := g.Next(context.Background()); answers <- err }()
		}
		for range 2 {
			if err := <-answers; !errors.Is(err, core.ErrLost) || !strings.Contains(err.Error(), "within Config.MaxWait, 2s") || time.Since(began) > 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		time.AfterFunc(time.Second, g.Close)
		began = time.Now()
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrClosed) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A clock that jumps back and forth is an error in the end, not an endless loop. The
// readings are counted, and not the time, in which this test may pause: in the
// 10ms of MaxWait a processor makes a million at the most.
func TestClockJumpsBackAndForth(t *testing.T) {
	const most = 20_000_000
	for _, back := range []core.ClockPolicy{core.Refuse{}, core.Wait{Max: time.Millisecond}, core.Rotate{}} {
		t.Run(fmt.Sprintf("%T", back), func(t *testing.T) {
			n, jumping := 0, false
			now := func() time.Time {
				if n++; n == most {
					jumping = false // so that the test ends
				}
				if jumping && n%2 == 1 {
					return time.Now().Add(-time.Hour)
				}
				return time.Now()
			}
			g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: now, ClockPolicy: back, MaxWait: 10 * time.Millisecond})
			next(t, g)
			n, jumping = 0, true
			_, err := g.Next(t.Context()) // an id may come between two jumps
			if n >= most {
				t.Errorf("MaxWait is 10ms, and Next has read the clock %d times: %v", n, err)
			}
		})
	}
}

// A wait notices that the clock is set right meanwhile.
func TestWaitNoticesThatTheClockIsSetRight(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		began := time.Now()
		now := func() time.Time {
			if d := time.Since(began); d > time.Minute && d < 61*time.Second {
				return time.Now().Add(-30 * time.Minute)
			}
			return time.Now()
		}
		g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: now, ClockPolicy: core.Wait{Max: time.Hour}})
		time.Sleep(59 * time.Second)
		next(t, g)
		time.Sleep(1100 * time.Millisecond)
		asked := time.Now()
		next(t, g)
		if d := time.Since(asked); d > 2*time.Second {
			t.Errorf("a clock that was wrong for a second cost %v", d)
		}
	})
}

// NotBefore holds under every later grant as well.
func TestNotBeforeHoldsForALaterGrant(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		start := time.Now()
		notBefore := start.Add(time.Hour)
		src := &source{grants: []*core.Grant{
			mustGrant(t, core.Twitter(), 1, time.Time{}, time.Time{}), mustGrant(t, core.Twitter(), 2, time.Time{}, time.Time{}),
		}}
		clock.offset = time.Hour
		g := mustNew(t, core.Config{Worker: src, Now: clock.now, ClockPolicy: core.Rotate{}, NotBefore: notBefore})
		if p := next(t, g); !p.Time.After(notBefore) {
			t.Errorf("%v, not after %v", p.Time, notBefore)
		}
		clock.offset = 0
		clockError(t, g, time.Hour, 0)
	})
}

// revoking takes every grant away as soon as it is in use.
type revoking struct {
	source
	last *core.Grant
}

func (r *revoking) Grant(ctx context.Context, prev *core.Grant) (gr *core.Grant, err error) {
	gr, err = r.source.Grant(ctx, prev)
	r.last = gr
	return gr, err
}

func (r *revoking) Observe(e core.Event) {
	if e.Kind == core.GrantReplaced {
		r.last.Revoke(nil)
	}
}

// A call goes through a few grants, and then says that none of them held.
func TestCallTriesFewGrants(t *testing.T) {
	src := &revoking{}
	for i := range 100 {
		src.grants = append(src.grants, mustGrant(t, core.Twitter(), int64(i), time.Time{}, time.Time{}))
	}
	first := src.grants[0]
	g := mustNew(t, core.Config{Worker: src, Observer: src})
	next(t, g)
	first.Revoke(nil)
	if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrLost) || len(src.grants) < 90 {
		t.Errorf("%v, and %d grants are left of 100", err, len(src.grants))
	}
}

// A reading that comes late, because its goroutine paused after it, is no step
// back of the clock.
func TestLateReadingIsNoStep(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		var late atomic.Bool
		now := func() time.Time {
			read := time.Now()
			if late.CompareAndSwap(true, false) {
				time.Sleep(300 * time.Millisecond)
			}
			return read
		}
		g := mustNew(t, core.Config{Worker: core.Fixed(1), Now: now})
		next(t, g)
		late.Store(true)
		var wg sync.WaitGroup
		wg.Go(func() { next(t, g) })
		time.Sleep(200 * time.Millisecond)
		next(t, g)
		wg.Wait()
		next(t, g)
		if st := g.Stats(); st.StepsBack != 0 {
			t.Errorf("%+v", st)
		}
	})
}

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
				must(t, err)
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

// A pause while New reads Config.Now must not put the generator's clock ahead: the
// next one, which knows nothing of it, would issue the same ids.
func TestPauseWhileNewReadsTheClock(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *manual) {
		pause := 300 * time.Millisecond
		now := func() time.Time { time.Sleep(pause); pause = 0; return time.Now() }
		var ids []int64
		for range 2 {
			g := mustNew(t, core.Config{Layout: small(), Worker: core.Fixed(1), Now: now})
			ids = append(ids, mustFill(t, g, 800)...)
			g.Close()
		}
		noDuplicates(t, ids)
	})
}

// Grants that are used up are waited for once, not each anew.
func TestOneWaitForExhaustedGrants(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		worker := int64(0)
		spent := sourceFunc(func(context.Context, *core.Grant) (*core.Grant, error) {
			worker++
			return core.NewGrant(core.Twitter(), worker, time.Now(), time.Now())
		})
		g := mustNew(t, core.Config{Worker: spent, Now: clock.now})
		began := time.Now()
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrFenced) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A panic in Config.Now or in the Observer reaches the caller of New, and costs no worker ID.
func TestPanicInNew(t *testing.T) {
	ends := core.Layout{Epoch: time.Now().Add(-time.Hour).Truncate(time.Millisecond), TimeBits: 35, SequenceBits: 4}
	for name, cfg := range map[string]core.Config{
		"Now":      {Now: func() time.Time { panic("no clock") }},
		"Observer": {Observer: observer(func(core.Event) { panic("no log") })},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Layout, cfg.Worker = ends, core.Fixed(0)
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				_, _ = core.New(cfg)
			}()
			mustNew(t, core.Config{Layout: ends, Worker: cfg.Worker})
		})
	}
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

// What is unused begins right behind the last id, also where that was the last of
// its tick.
func TestFirstUnusedAtATicksEnd(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		for _, n := range []int{0, 1, 4095, 4096, 4097, 8192} {
			gr := mustGrant(t, l, 3, now, now.Add(time.Hour))
			g := mustNew(t, core.Config{Worker: holder{gr}, ClockPolicy: core.Logical{Detached: true}})
			mustFill(t, g, n)
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
	})
}

type sourceFunc func(context.Context, *core.Grant) (*core.Grant, error)

func (f sourceFunc) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	return f(ctx, prev)
}

type refusing struct{ err error }

func (f refusing) Grant(context.Context, *core.Grant) (*core.Grant, error) { return nil, f.err }

// Config.Now, and the Observer of what it shows, may call the generator while another grant is
// installed, or another value of the roll-back field.
func TestClockThatCallsTheGenerator(t *testing.T) {
	for name, policy := range map[string]core.ClockPolicy{"replaced": core.Logical{}, "rolled back": core.Rollback{}} {
		t.Run(name, func(t *testing.T) {
			l := core.Layout{TimeBits: 41, RollbackBits: 2, WorkerBits: 8, SequenceBits: 12}
			var g *core.Generator
			var back atomic.Int64
			var calls atomic.Bool
			now := func() time.Time {
				if calls.CompareAndSwap(true, false) {
					g.Stats()
					calls.Store(true)
				}
				return time.Now().Add(-time.Duration(back.Load()))
			}
			lost := mustGrant(t, l, 1, time.Time{}, time.Time{})
			source := &firstAsks{[]core.GrantSource{holder{lost}, holder{mustGrant(t, l, 2, time.Time{}, time.Time{})}}}
			var err error
			g, err = core.New(core.Config{Layout: l, Worker: source, ClockPolicy: policy, Now: now}) // not closed: it may hang
			must(t, err)
			mustFill(t, g, 1)
			if name == "replaced" {
				lost.Revoke(nil)
			} else {
				back.Store(int64(time.Minute))
			}
			calls.Store(true)
			drawn := make(chan error, 1)
			go func() { _, err := g.Next(context.Background()); drawn <- err }()
			select {
			case err := <-drawn:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("Next does not return")
			}
			if calls.Store(false); (name == "replaced") != (g.Stats().Worker == 2) {
				t.Errorf("%+v", g.Stats())
			}
		})
	}
}
