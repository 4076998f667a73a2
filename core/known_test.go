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

// With a counter that lies at any moment in any way, ids stay unique and ascend in each
// goroutine, and none passes the fence.
func TestNoDuplicateUnderALyingCounter(t *testing.T) {
	l := Layout{TimeBits: 41, WorkerBits: 8, SequenceBits: 14}
	now := time.Now()
	gr, err := NewGrant(l, 1, now, now.Add(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(Config{Layout: l, Worker: holderOf{gr}, MaxWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	defer Mislead(g)()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var fence atomic.Int64
	raise := func() {
		to := time.Now().Add(3 * time.Millisecond)
		fence.Store(to.UnixMicro())
		gr.RaiseFence(to)
	}
	raise()
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(2 * time.Millisecond)
			raise()
		}
	})
	var mu sync.Mutex
	var all []int64
	for w := range 8 {
		wg.Go(func() {
			var ids []int64
			block := make([]int64, 1+3*w)
			for ctx.Err() == nil {
				if err := g.Fill(ctx, block); err != nil {
					break
				}
				ids = append(ids, block...)
				parts, err := l.Decode(block[len(block)-1])
				if until := time.UnixMicro(fence.Load()).Add(time.Millisecond); err != nil || parts.Time.After(until) {
					t.Errorf("an id carries %v, the fence is %v: %v", parts.Time, until, err)
					return
				}
			}
			if !slices.IsSorted(ids) {
				t.Error("ids do not ascend")
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, ids...)
		})
	}
	wg.Wait()
	slices.Sort(all)
	if n := len(all); len(slices.Compact(all)) != n || n < 1000 {
		t.Errorf("of %d ids some were issued twice", n)
	}
}

// Goroutines on all processors take the slots of known ticks at once.
func TestNoDuplicateInAKnownTick(t *testing.T) {
	l := Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 20}
	g, err := New(Config{Layout: l, Worker: Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var wg sync.WaitGroup
	all := make([][]int64, 4)
	for w := range all {
		wg.Go(func() {
			for i := range 50_000 {
				if i%100 == 0 {
					freeze(g)
				}
				id, err := g.Next(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				all[w] = append(all[w], id)
			}
		})
	}
	wg.Wait()
	ids := slices.Concat(all...)
	slices.Sort(ids)
	if n := len(ids); len(slices.Compact(ids)) != n {
		t.Error("an id was issued twice")
	}
}

// Where the counter is trusted, ids after a pause carry the time after it.
func TestTimeByTheCounter(t *testing.T) {
	g, err := New(Config{Worker: Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range 100 {
		time.Sleep(2 * time.Millisecond)
		before := time.Now().Truncate(time.Millisecond).Add(-time.Millisecond) // clocks differ by less than 1ms
		for range 20 {
			id, err := g.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if parts, err := g.Layout().Decode(id); err != nil || parts.Time.Before(before) {
				t.Fatalf("the id's time is %v, after %v: %v", parts.Time, before, err)
			}
		}
	}
	if !g.Stats().Counter && (platform{}).counterIsClock() {
		t.Error("the counter is not trusted")
	}
}

// A panic of the Observer does not end the use of the counter.
func TestPanicWhileCalibrating(t *testing.T) {
	g, err := New(Config{Worker: Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	TrustCounter(g)
	g.clock.event = func(EventKind, time.Duration) { panic("an Observer") }
	behind := *g.clock.anchor.Load()
	behind.wall += int64(time.Second)
	behind.checkAt = 0
	g.clock.anchor.Store(&behind) // so that the next reading finds a step back
	func() {
		defer func() { _ = recover() }()
		_, _ = g.Next(t.Context())
		t.Error("no panic")
	}()
	if !g.clock.counter.mu.TryLock() {
		t.Fatal("the counter is locked")
	}
	g.clock.counter.mu.Unlock()
}

// Close does not wait for a call that sleeps until the next tick, also where the timer is one
// of the runtime, in a bubble.
func TestCloseWhileACallSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(20 * 365 * 24 * time.Hour)
		g, err := New(Config{Worker: Fixed(1), MaxWait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		g.sleeping.Lock() // as the call that sleeps does
		done := make(chan struct{})
		go func() {
			defer close(done)
			g.Close()
		}()
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("Close waits")
		}
		g.sleeping.Unlock()
		<-done
	})
}

// freeze makes the counter of a generator seem to stop within the tick that it knows.
func freeze(g *Generator) {
	k := &g.current.Load().known
	k.start.Store(0)
	k.length.Store(1<<64 - 1)
}

// A counter that stops costs at most 256 ids of old time.
func TestFrozenCounterIsNoticed(t *testing.T) {
	g, err := New(Config{Worker: Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range 10 {
		old := 0
		time.Sleep(2 * time.Millisecond)
		before := time.Now().Truncate(time.Millisecond)
		for {
			id, err := g.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			freeze(g)
			parts, err := g.Layout().Decode(id)
			if err != nil {
				t.Fatal(err)
			}
			if !parts.Time.Before(before) {
				break
			}
			if old++; old > knownSlots {
				t.Fatalf("%d ids carry times before %v", old, before)
			}
		}
	}
}

// When Revoke or Close have returned, no counter lets a call issue an id.
func TestKnownTickEndsWithTheGrant(t *testing.T) {
	for range 100 {
		now := time.Now()
		gr, err := NewGrant(Twitter(), 1, now, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(Config{Worker: holderOf{gr}, MaxWait: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		var revoked atomic.Bool
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for {
					ended := revoked.Load()
					_, err := g.Next(t.Context())
					if err != nil && !errors.Is(err, ErrLost) {
						t.Error(err)
					}
					if ended && err == nil {
						t.Error("an id after Revoke had returned")
					}
					if err != nil || ended {
						return
					}
					freeze(g)
				}
			})
		}
		time.Sleep(50 * time.Microsecond)
		gr.Revoke(nil)
		revoked.Store(true)
		wg.Wait()
		freeze(g)
		if _, err := g.Next(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("after Revoke: %v", err)
		}
		g.Close()
		freeze(g)
		if _, err := g.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// A step of the system clock is noticed as soon as without a counter: here one back by an hour,
// at the next comparison with the monotonic clock.
func TestStepUnderTheCounter(t *testing.T) {
	g, err := New(Config{Worker: Fixed(1), ClockPolicy: Refuse{}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	const compared = 50 * time.Millisecond
	began := time.Now()
	right := *g.clock.anchor.Load()
	g.clock.anchor.Store(&anchor{
		wall: right.wall + int64(time.Hour), hybrid: right.hybrid + int64(time.Hour),
		checkAt: int64(time.Since(g.clock.start) + compared),
	})
	for {
		asked := time.Since(began)
		_, err := g.Next(t.Context())
		if refused := new(ClockError); errors.As(err, &refused) {
			if since := time.Since(began); since < compared {
				t.Errorf("refused after %v already", since)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if asked > compared+time.Second {
			t.Fatalf("an id that was asked for %v after the step was issued", asked)
		}
	}
}
