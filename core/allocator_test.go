package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func newGenerator(t *testing.T, cfg Config) *Generator {
	t.Helper()
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func grantOf(t *testing.T, l Layout, worker int64, from, fence time.Time) *Grant {
	t.Helper()
	gr, err := NewGrant(l, worker, from, fence)
	if err != nil {
		t.Fatal(err)
	}
	return gr
}

func nextID(t *testing.T, g *Generator) int64 {
	t.Helper()
	id, err := g.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// fourATick allows 4 ids in 10 ms.
var fourATick = Layout{Tick: 10 * time.Millisecond, TimeBits: 40, SequenceBits: 2}

// bubbleGenerator returns a generator whose present tick is full.
func bubbleGenerator(t *testing.T, source GrantSource) *Generator {
	time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
	g := newGenerator(t, Config{Layout: fourATick, Worker: source})
	if err := g.Fill(t.Context(), make([]int64, 4)); err != nil {
		t.Fatal(err)
	}
	return g
}

// What cancelled calls have reserved goes to the next calls, wherever in the line it is.
func TestCancelledReservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := bubbleGenerator(t, Fixed(0))
		var wg sync.WaitGroup
		var issued atomic.Int64
		var cancels []context.CancelFunc
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			cancels = append(cancels, cancel)
			wg.Go(func() {
				if _, err := g.Next(ctx); err == nil {
					issued.Add(1)
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for i, cancel := range cancels {
			if i%2 == 0 {
				cancel()
			}
		}
		time.Sleep(3 * time.Millisecond)
		if n := g.Stats().Issued; n != 4 { // what is reserved is not issued yet
			t.Errorf("%d ids are counted", n)
		}
		began := time.Now()
		for range 10 {
			wg.Go(func() {
				if _, err := g.Next(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 50*time.Millisecond {
			t.Errorf("20 ids took %v", took)
		}
		if issued.Load() != 10 || g.Stats().Issued != 4+20 {
			t.Errorf("%d issued, %+v", issued.Load(), g.Stats())
		}
		for _, cancel := range cancels {
			cancel()
		}
	})
}

// What was given back in the present tick is issued at once, and what was given back in an earlier one never.
func TestGivenBackInThePresentTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := bubbleGenerator(t, Fixed(0))
		first, cancel := context.WithCancel(t.Context())
		defer cancel()
		var wg sync.WaitGroup
		for i := range 8 { // four in the next tick, all of which are cancelled, and four behind
			ctx := t.Context()
			if i < 4 {
				ctx = first
			}
			wg.Go(func() { _, _ = g.Next(ctx) })
			synctest.Wait()
		}
		time.Sleep(time.Millisecond)
		cancel()
		time.Sleep(2 * time.Millisecond)
		for _, x := range []struct{ sleep, wait time.Duration }{{9 * time.Millisecond, 0}, {0, 0}, {time.Millisecond, 10 * time.Millisecond}} {
			time.Sleep(x.sleep)
			began := time.Now()
			id := nextID(t, g)
			if p, err := g.Layout().Decode(id); err != nil || !p.Time.After(began.Add(-10*time.Millisecond)) || time.Since(began) > x.wait+2*time.Millisecond {
				t.Errorf("%+v after %v, at %v", p, time.Since(began), began)
			}
		}
		wg.Wait()
	})
}

// If more calls come than there are slots, and each gives up after a while, ids continue: the slots of calls
// that have given up go to others.
func TestImpatientCalls(t *testing.T) {
	for _, load := range []int{5, 8} { // in a tick of four slots
		for name, limit := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(100*time.Millisecond, cancel)
				return ctx, cancel
			},
			"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 100*time.Millisecond)
			},
		} {
			t.Run(fmt.Sprint(name, " ", load), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := bubbleGenerator(t, Fixed(0))
					var wg sync.WaitGroup
					for second := range 4 {
						before := g.Stats().Issued
						for range 100 {
							for range load {
								wg.Go(func() {
									ctx, cancel := limit(t.Context())
									defer cancel()
									_, _ = g.Next(ctx)
								})
							}
							time.Sleep(10 * time.Millisecond)
						}
						if n := g.Stats().Issued - before; n < 250 { // of 400; nearly all, if there are no deadlines
							t.Errorf("%d ids in second %d", n, second)
						}
					}
					wg.Wait()
				})
			})
		}
	}
}

// A call that fails at once reserves nothing: however many fail, the next ids come as soon as without them.
func TestFailedCallsReserveNothing(t *testing.T) {
	for name, x := range map[string]struct {
		policy   ClockPolicy
		back     time.Duration
		fenceErr error
		deadline time.Duration
		want     error // nil: a ClockError
	}{
		"step back":       {Refuse{}, time.Minute, nil, time.Hour, nil},
		"step back, Wait": {Wait{}, time.Minute, nil, time.Hour, nil},
		"deadline":        {Refuse{}, 0, nil, time.Millisecond, context.DeadlineExceeded},
		"fence":           {Refuse{}, 0, errors.New("the store is down"), time.Hour, ErrFenced},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
				begin, fence := time.Now(), time.Now().Add(time.Hour)
				if x.fenceErr != nil {
					fence = begin.Add(10 * time.Millisecond)
				}
				gr := grantOf(t, fourATick, 0, begin, fence)
				gr.SetFenceError(x.fenceErr)
				back := time.Duration(0)
				g := newGenerator(t, Config{Worker: holderOf{gr}, ClockPolicy: x.policy, Now: func() time.Time { return time.Now().Add(-back) }})
				if err := g.Fill(t.Context(), make([]int64, 4)); err != nil {
					t.Fatal(err)
				}
				back = x.back
				cursor := g.current.Load().position(0).cursor
				for range 100 {
					ctx, cancel := context.WithTimeout(t.Context(), x.deadline)
					_, err := g.Next(ctx)
					if x.want == nil && !errors.As(err, new(*ClockError)) || x.want != nil && !errors.Is(err, x.want) {
						t.Error(err)
					}
					cancel()
				}
				if p := g.current.Load().position(0); p.cursor != cursor || time.Since(begin) > 0 {
					t.Errorf("the cursor is %d slots further, after %v", p.cursor-cursor, time.Since(begin))
				}
			})
		})
	}
}

// Calls that fail because the fence does not rise leave no hole: when it rises, ids come at once.
func TestCallsFailAtTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
		fence := time.Now().Add(50 * time.Millisecond)
		gr := grantOf(t, fourATick, 0, time.Now(), fence)
		const wait = 20 * time.Millisecond
		g := newGenerator(t, Config{Worker: holderOf{gr}, ClockPolicy: Logical{Detached: true}, MaxWait: wait})
		var wg sync.WaitGroup
		var failed atomic.Int64
		for range 100 {
			for range 10 {
				wg.Go(func() {
					if _, err := g.Next(t.Context()); errors.Is(err, ErrFenced) {
						failed.Add(1)
					} else if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
		gr.RaiseFence(fence.Add(2 * wait))
		if failed.Load() != 100*10-5*4 {
			t.Errorf("%d failed", failed.Load())
		}
		began := time.Now()
		nextID(t, g)
		if took := time.Since(began); took > 0 {
			t.Errorf("the next id comes after %v", took)
		}
	})
}

// Slots that are only reserved are no ids: neither ahead of the clock nor before the end of a closed grant.
// Calls that wait for them notice the end.
func TestReservationsEndWithTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := []*Grant{grantOf(t, fourATick, 0, time.Time{}, time.Time{}), grantOf(t, fourATick, 0, time.Time{}, time.Time{})}
		g := bubbleGenerator(t, &grants{slices.Clone(list)})
		now := time.Now()
		var wg sync.WaitGroup
		var closed, issued atomic.Int64
		for range 40 {
			wg.Go(func() {
				switch _, err := g.Next(t.Context()); {
				case err == nil:
					issued.Add(1)
				case errors.Is(err, ErrClosed):
					closed.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if st := g.Stats(); st.Ahead != 0 {
			t.Errorf("%v ahead", st.Ahead)
		}
		list[0].Revoke(nil)
		time.Sleep(5 * time.Millisecond)
		if unused := list[0].Close(); unused.After(now.Add(10 * time.Millisecond)) {
			t.Errorf("unused from %v on, at %v", unused, now)
		}
		time.Sleep(32 * time.Millisecond)
		g.Close()
		wg.Wait()
		if n := issued.Load(); n < 8 || n > 20 || n+closed.Load() != 40 || time.Since(now) > 45*time.Millisecond {
			t.Errorf("%d issued, %d closed, after %v", n, closed.Load(), time.Since(now))
		}
	})
}

// reservedAllocator returns an allocator that has issued a tick of four slots and reserved two of the next.
func reservedAllocator(t *testing.T) (a *allocator, r chunk) {
	a = bubbleGenerator(t, Fixed(0)).current.Load()
	if !a.reserve(&r, a.position(0).next, 9) || r.to-r.from != 2 {
		t.Fatalf("reserved %+v", r)
	}
	return a, r
}

// After the end no reserved slot is issued, and the end is above the last id, not above the reservation.
func TestReservedSlotsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := reservedAllocator(t)
		tick := r.from >> a.layout.SequenceBits
		time.Sleep(10 * time.Millisecond)
		if unused := a.close().lastIssued + 1; unused != tick {
			t.Errorf("unused from tick %d on, want %d", unused, tick)
		}
		if a.takeReserved(r.slotRange) {
			t.Error("issued after the end")
		}
		a.giveBack(r.slotRange)
		if a.reserve(&r, r.from, 1) || a.close().lastIssued+1 != tick {
			t.Error("reserved after the end")
		}
	})
}

// When Close has returned, not even a goroutine that passed every check before
// can issue: the cursor is closed, not just the fence, and the unused slots are gone.
func TestGrantCloseClosesTheCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
		now := time.Now()
		gr := grantOf(t, Twitter(), 1, now, now.Add(time.Hour))
		g := newGenerator(t, Config{Worker: holderOf{gr}, ClockPolicy: Reuse{}})
		for range 2 {
			nextID(t, g)
			time.Sleep(time.Millisecond)
		}
		a := g.current.Load()
		if len(a.unused.ranges) == 0 {
			t.Error("no slot was left unused")
		}
		gr.Close()
		if slot, ok := a.unused.take(0, 0); ok {
			t.Errorf("slot %d, left unused, is issued", slot)
		}
		if a.cursor.Load() != closedCursor {
			t.Error("the cursor is still open")
		}
		if _, err := gr.swap(a, a); err == nil {
			t.Error("a closed grant was passed on")
		}
	})
}

type holderOf struct{ grant *Grant }

func (h holderOf) Grant(context.Context, *Grant) (*Grant, error) { return h.grant, nil }

// grants gives one grant after the other.
type grants struct{ list []*Grant }

func (s *grants) Grant(context.Context, *Grant) (*Grant, error) {
	next := s.list[0]
	s.list = s.list[1:]
	return next, nil
}

// Under a fence, which proves that no other generator has issued in the present tick, ids begin at once:
// those of a new generator, and those after another grant.
func TestFirstIDUnderAFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
		for name, fence := range map[string]time.Time{"with a fence": time.Now().Add(time.Hour), "without": {}} {
			source := &grants{}
			for worker := range int64(2) {
				source.list = append(source.list, grantOf(t, Twitter(), worker, time.Now().Add(-time.Minute), fence))
			}
			first := source.list[0]
			began := time.Now()
			g := newGenerator(t, Config{Worker: source, ClockPolicy: Refuse{}}) // which does not run ahead of the clock
			for worker := range int64(2) {
				if parts, err := Twitter().Decode(nextID(t, g)); err != nil || parts.Worker != worker {
					t.Fatalf("%+v, %v", parts, err)
				}
				if waited := time.Since(began); waited == 0 == fence.IsZero() {
					t.Errorf("%s: the first id of worker %d comes after %v", name, worker, waited)
				}
				time.Sleep(time.Second)
				began = time.Now()
				first.Revoke(nil)
			}
		}
	})
}
