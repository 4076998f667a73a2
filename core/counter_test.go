package core

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// liar is a processor whose counter is computed by a function of a test. Its arguments are the
// time since start, and how long the counter has been wrong (0: not yet).
type liar struct {
	count   func(sinceStart, wrong time.Duration) float64
	start   time.Time
	wrong   atomic.Int64 // when it began to be wrong, counted from start; 0: not yet
	another atomic.Bool  // whether the machine takes the time from another clock
}

func (l *liar) readCounter() uint64 {
	since, wrong := time.Since(l.start), time.Duration(0)
	if from := l.wrong.Load(); from > 0 {
		wrong = since - time.Duration(from)
	}
	return uint64(l.count(since, wrong))
}

func (l *liar) counterIsClock() bool { return !l.another.Load() }

// A counter is trusted once it agrees with the clock, and no longer when it goes wrong.
func TestCounterIsTrustedWhileItAgrees(t *testing.T) {
	hz := func(rate float64) func(_, _ time.Duration) float64 {
		return func(d, _ time.Duration) float64 { return rate / 1e9 * float64(d) }
	}
	// plus returns a counter of 2.5 GHz. While it is wrong, it is ahead by what add returns.
	plus := func(add func(wrong time.Duration) time.Duration) func(_, _ time.Duration) float64 {
		return func(d, wrong time.Duration) float64 {
			if wrong > 0 {
				d += add(wrong)
			}
			return 1e12 + 2.5*float64(d)
		}
	}
	for _, c := range []struct {
		name          string
		count         func(_, _ time.Duration) float64
		before, after bool // whether it is trusted before and after it goes wrong
		anotherSource bool
	}{
		{name: "2.5 GHz", count: hz(2.5e9), before: true, after: true},
		{name: "24 MHz", count: hz(24e6), before: true, after: true},
		{name: "10 kHz", count: hz(1e4)},
		{name: "100 GHz", count: hz(1e11)},
		{name: "never advances", count: hz(0)},
		{name: "accelerates", count: func(d, _ time.Duration) float64 { return float64(d) * float64(d) / 1e8 }},
		{name: "the machine has another clock", count: hz(1e9), anotherSource: true},
		{name: "jumps a second, once", count: plus(func(time.Duration) time.Duration { return time.Second }), before: true, after: true},
		{name: "jumps a second, again and again", count: plus(func(d time.Duration) time.Duration { return d.Truncate(time.Millisecond) * 1000 }), before: true},
		{name: "stops", count: plus(func(d time.Duration) time.Duration { return -d }), before: true},
		{name: "begins anew", count: plus(func(time.Duration) time.Duration { return -4e11 }), before: true},
		{name: "runs backwards", count: plus(func(d time.Duration) time.Duration { return -2 * d }), before: true},
		{name: "has twice the rate", count: plus(func(d time.Duration) time.Duration { return d }), before: true},
		{name: "differs from core to core by 1µs", count: plus(func(d time.Duration) time.Duration { return d & 1024 }), before: true, after: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGenerator(t, Config{Worker: Fixed(1)})
			events := 0
			k := &g.clock.counter
			l := &liar{count: c.count, start: k.start}
			l.another.Store(c.anotherSource)
			k.machine, k.event = l, func(kind EventKind, _ time.Duration) {
				if kind == CounterRejected {
					events++
				}
			}
			use := func(most time.Duration, enough func() bool) {
				for began := time.Now(); time.Since(began) < most && !enough(); {
					nextID(t, g)
				}
			}
			if c.before {
				use(10*time.Second, k.trusted.Load)
			} else {
				use(100*time.Millisecond, k.trusted.Load)
			}
			if k.trusted.Load() != c.before {
				t.Fatalf("trusted: %v, want %v", !c.before, c.before)
			}
			l.wrong.Store(int64(time.Since(l.start)))
			use(50*time.Millisecond, k.off.Load)
			use(10*time.Second, func() bool { return k.trusted.Load() == c.after && (!c.after || !k.disagreed) })
			if k.trusted.Load() != c.after || k.disagreed && c.after {
				t.Errorf("trusted: %v, want %v", !c.after, c.after)
			}
			if rejected := c.before && !c.after; rejected != (events == 1) || events > 1 {
				t.Errorf("%d events, want one only if the counter was trusted and is no longer", events)
			}
			if !k.trusted.Load() && g.current.Load().known.length.Load() != 0 {
				t.Error("a tick is known by a counter that is not used")
			}
		})
	}
}

// A machine may change its clock source while a program runs. Linux does so when it finds the
// counter unsteady.
func TestCounterOfAnotherClock(t *testing.T) {
	c := trustedCounter(t)
	l := c.machine.(*liar)
	l.another.Store(true)
	c.compare(int64(time.Since(c.start)))
	if !c.trusted.Load() {
		t.Error("the clock source was looked at before a minute was over")
	}
	c.compare(int64(time.Since(c.start)) + sourceEvery)
	if c.trusted.Load() || !c.off.Load() {
		t.Error("the counter is trusted although the machine has another clock")
	}
}

// No tick is known for longer than a millisecond.
func TestKnownForAMillisecond(t *testing.T) {
	c := trustedCounter(t)
	for ns, want := range map[int64]uint64{-1: 0, 0: 0, 1000: 1000, 1e6: 1e6, 1e9: 1e6} {
		if got := c.countsIn(ns, c.last, 0); got > want+want/100 || got < want-want/100 {
			t.Errorf("%dns: %d counts, want %d", ns, got, want)
		}
	}
	c.disagreed = true
	if got := c.countsIn(1000, c.last, 0); got != 0 {
		t.Errorf("%d counts although it disagrees with the clock", got)
	}
}

// trustedCounter returns a counter of 1 GHz that has agreed with the clock twice.
func trustedCounter(t *testing.T) *counter {
	t.Helper()
	l := &liar{start: time.Now(), count: func(d, _ time.Duration) float64 { return float64(d) }}
	c := &counter{start: l.start, machine: l, event: func(EventKind, time.Duration) {}}
	for deadline := time.Now().Add(10 * time.Second); !c.trusted.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the counter is not trusted")
		}
		if elapsed := int64(time.Since(c.start)); elapsed >= c.next {
			c.compare(elapsed)
		}
	}
	return c
}

// A generator that is used for a while trusts the counter if the machine takes the time from it,
// unless the Config says otherwise.
func TestCounterIsUsed(t *testing.T) {
	gr := grantOf(t, Twitter(), 1, time.Now(), time.Now().Add(time.Hour))
	for _, c := range []struct {
		name string
		cfg  Config
		want bool
	}{
		{"default", Config{Worker: Fixed(1)}, platform{}.counterIsClock()},
		{"NoCounter", Config{Worker: Fixed(1), NoCounter: true}, false},
		{"Now", Config{Worker: Fixed(1), Now: time.Now}, false},
		{"Detached", Config{Worker: holderOf{gr}, ClockPolicy: Logical{Detached: true}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGenerator(t, c.cfg)
			for began := time.Now(); time.Since(began) < 100*time.Millisecond || c.want && !g.Stats().CounterTrusted; {
				nextID(t, g)
				if time.Since(began) > 10*time.Second {
					t.Fatal("the counter is not trusted")
				}
			}
			if got := g.Stats().CounterTrusted; got != c.want {
				t.Errorf("Stats().CounterTrusted is %v, want %v", got, c.want)
			}
		})
	}
}

// The clock of a bubble does not follow the counter, so the counter is never trusted there.
func TestCounterInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(20 * 365 * 24 * time.Hour)
		g := newGenerator(t, Config{Worker: Fixed(1)})
		machine := &liar{start: time.Now(), count: func(d, _ time.Duration) float64 { return float64(d) }}
		g.clock.counter.machine = machine // as if it did follow
		for _, sleep := range []time.Duration{time.Hour, time.Microsecond} {
			for range 10_000 {
				time.Sleep(sleep)
				id := nextID(t, g)
				if sleep < time.Millisecond {
					continue
				}
				if parts, err := g.Layout().Decode(id); err != nil || parts.Time != time.Now().UTC().Truncate(time.Millisecond).Add(parts.Time.Sub(parts.Time.Truncate(time.Millisecond))) {
					t.Fatalf("the id's time is %v after sleeping until %v: %v", parts.Time, time.Now(), err)
				}
			}
		}
		if g.Stats().CounterTrusted {
			t.Error("the counter is trusted")
		}
	})
}

// A panic of the Observer does not end the use of the counter.
func TestPanicWhileCalibrating(t *testing.T) {
	g := newGenerator(t, Config{Worker: Fixed(1)})
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

// freeze makes the counter of a generator seem to stop within the tick that it knows.
func freeze(g *Generator) {
	k := &g.current.Load().known
	k.start.Store(0)
	k.length.Store(1<<64 - 1)
}

// A counter that stops costs at most 256 ids of old time.
func TestFrozenCounterIsNoticed(t *testing.T) {
	g := newGenerator(t, Config{Worker: Fixed(1)})
	for range 10 {
		old := 0
		time.Sleep(2 * time.Millisecond)
		before := time.Now().Truncate(time.Millisecond)
		for {
			id := nextID(t, g)
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

// Goroutines on all processors take the slots of known ticks at once.
func TestNoDuplicateInAKnownTick(t *testing.T) {
	g := newGenerator(t, Config{Layout: Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 20}, Worker: Fixed(1)})
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
	if n := len(ids); n == 0 || len(slices.Compact(ids)) != n {
		t.Error("an id was issued twice")
	}
}

// When Revoke or Close have returned, no counter lets a call issue an id.
func TestKnownTickEndsWithTheGrant(t *testing.T) {
	for range 100 {
		now := time.Now()
		gr := grantOf(t, Twitter(), 1, now, now.Add(time.Hour))
		g := newGenerator(t, Config{Worker: holderOf{gr}, MaxWait: time.Millisecond})
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
