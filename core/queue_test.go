package core

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bubbleGenerator returns a generator of 4 ids a tick of 10 ms, all of which are taken.
func bubbleGenerator(t *testing.T, source GrantSource) *Generator {
	time.Sleep(time.Until(Twitter().Epoch) + time.Hour)
	g, err := New(Config{Layout: Layout{Tick: 10 * time.Millisecond, TimeBits: 40, SequenceBits: 2}, Worker: source})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	if err := g.Fill(t.Context(), make([]int64, 4)); err != nil {
		t.Fatal(err)
	}
	return g
}

// Calls that wait get their ids in the order in which they asked, a tick after the other, and a large Fill
// leaves half of each tick to others.
func TestCallsWaitInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := bubbleGenerator(t, Fixed(0))
		var ids [10]int64
		var filled [40]int64
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := g.Fill(t.Context(), filled[:]); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		began := time.Now()
		for i := range ids {
			wg.Go(func() {
				var err error
				if ids[i], err = g.Next(t.Context()); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > time.Duration(i/2+1)*10*time.Millisecond+2*time.Millisecond {
					t.Errorf("call %d took %v", i, took)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if !slices.IsSorted(ids[:]) || !slices.IsSorted(filled[:]) {
			t.Errorf("out of order: %v, %v", ids, filled)
		}
	})
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
			id, err := g.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if p, err := g.Layout().Decode(id); err != nil || !p.Time.After(began.Add(-10*time.Millisecond)) || time.Since(began) > x.wait+2*time.Millisecond {
				t.Errorf("%+v after %v, at %v", p, time.Since(began), began)
			}
		}
		wg.Wait()
	})
}

// Slots that are only reserved are no ids: neither ahead of the clock nor before the end of a closed grant.
// Calls that wait for them notice the end.
func TestReservationsEndWithTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []*Grant
		for range 2 {
			gr, err := NewGrant(Layout{Tick: 10 * time.Millisecond, TimeBits: 40, SequenceBits: 2}, 0, time.Time{}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, gr)
		}
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

// No id comes twice and none is lost from order while calls are cancelled and give back what they reserved.
func TestNoDuplicateOfGivenBackSlots(t *testing.T) {
	g, err := New(Config{Layout: Layout{TimeBits: 41, WorkerBits: 8, SequenceBits: 6}, Worker: Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	end := time.Now().Add(400 * time.Millisecond)
	all := make([][]int64, 16)
	var wg sync.WaitGroup
	for w := range all {
		wg.Go(func() {
			block := make([]int64, 1+w*5)
			last := int64(0)
			for i := 0; time.Now().Before(end); i++ {
				ctx, cancel := context.WithCancel(t.Context())
				if w%2 == 0 {
					time.AfterFunc(time.Duration((i*131+w*57)%1500)*time.Microsecond, cancel)
				}
				if g.Fill(ctx, block) == nil {
					if block[0] <= last || !slices.IsSorted(block) {
						t.Errorf("%d after %d", block[0], last)
					}
					last = block[len(block)-1]
					all[w] = append(all[w], block...)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	ids := slices.Concat(all...)
	slices.Sort(ids)
	n := len(ids)
	if len(slices.Compact(ids)) != n {
		t.Error("an id was issued twice")
	}
	if st := g.Stats(); st.Issued < uint64(n) {
		t.Errorf("%d ids, %+v", n, st)
	}
	t.Logf("%d ids", n)
}
