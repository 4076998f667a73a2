package core_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func isDone(gr *core.Grant) bool {
	select {
	case <-gr.Done():
		return true
	default:
		return false
	}
}

// state fails unless the grant is as it should be.
func state(t *testing.T, what string, gr *core.Grant, attached, done bool) {
	t.Helper()
	if gr.Attached() != attached || isDone(gr) != done {
		t.Errorf("%s: attached %v, done %v; want %v, %v", what, gr.Attached(), isDone(gr), attached, done)
	}
}

// A grant is done as soon as no generator has it or will have it, and no earlier.
func TestDone(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		now := time.Now()
		fresh := func() *core.Grant { return mustGrant(t, small(), 3, now, now.Add(time.Hour)) }

		gr := fresh()
		state(t, "new", gr, false, false)
		gr.Revoke(nil)
		state(t, "revoked", gr, false, false)
		gr.Close()
		state(t, "closed and never taken", gr, false, true)
		gr.Close() // twice is no panic

		gr = fresh()
		g := mustNew(t, core.Config{Worker: holder{gr}})
		state(t, "in use", gr, true, false)
		if _, err := core.New(core.Config{Worker: holder{gr}}); !errors.Is(err, core.ErrInUse) {
			t.Error(err)
		}
		state(t, "after another New", gr, true, false)
		g.Close()
		state(t, "generator closed", gr, true, true)
		g.Close()

		gr = fresh()
		g = mustNew(t, core.Config{Worker: holder{gr}})
		gr.Close()
		state(t, "closed under its generator", gr, true, false)
		g.Close()
		state(t, "and then the generator", gr, true, true)

		gr = mustGrant(t, small(), 3, now.Add(-time.Hour), now.Add(time.Hour))
		g = mustNew(t, core.Config{Worker: holder{gr}, Now: clock.now, ClockPolicy: core.Rollback{}})
		next(t, g)
		clock.offset = -time.Minute
		gr2 := next(t, g)
		state(t, "under another roll-back value", gr, true, false)
		if gr2.Rollback != 1 {
			t.Errorf("%+v: the test shows nothing", gr2)
		}
		g.Close()
		state(t, "and closed", gr, true, true)
		clock.offset = 0

		a, b := fresh(), mustGrant(t, small(), 4, now, now.Add(time.Hour))
		g = mustNew(t, core.Config{Worker: &source{grants: []*core.Grant{a, b}}})
		next(t, g)
		a.Revoke(nil)
		state(t, "revoked, and nobody has noticed", a, true, false)
		next(t, g)
		state(t, "given up", a, true, true)
		state(t, "taken instead", b, true, false)

		a, b = fresh(), mustGrant(t, core.Twitter(), 4, now, now.Add(time.Hour))
		g = mustNew(t, core.Config{Worker: &source{grants: []*core.Grant{a, b}}})
		a.Revoke(nil)
		if _, err := g.Next(t.Context()); !errors.As(err, new(*core.ConfigError)) {
			t.Error(err)
		}
		state(t, "kept for want of another", a, true, false)
		state(t, "refused", b, false, true)
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
				state(t, name, gr, false, true)
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
	state(t, "a configuration for which the grant is not asked for", gr, false, false)
}

// asking records why it was asked.
type asking struct {
	source
	why []core.RegrantReason
}

func (a *asking) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	if prev != nil {
		a.why = append(a.why, prev.RegrantReason())
	}
	return a.source.Grant(ctx, prev)
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
		src := &asking{source: source{grants: slices.Clone(grants)}}
		g := mustNew(t, core.Config{Worker: src, Now: clock.now, ClockPolicy: core.Rotate{}})
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
		if want := []core.RegrantReason{core.RegrantLost, core.RegrantExhausted, core.RegrantRotate, core.RegrantLost}; !slices.Equal(src.why, want) {
			t.Errorf("%v, want %v", src.why, want)
		}
		for r, want := range map[core.RegrantReason]string{core.RegrantNone: "not asked", core.RegrantLost: "grant lost", core.RegrantExhausted: "grant exhausted", core.RegrantRotate: "clock stepped back", 99: "unknown reason"} {
			if r.String() != want {
				t.Errorf("%d is %q", r, r)
			}
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

// relay gives one worker ID to one generator after the other, each from where the one
// before has ended, as a lease does.
type relay struct {
	layout core.Layout
	until  time.Time
	mu     sync.Mutex
	last   *core.Grant
	given  int
}

func (r *relay) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !isDone(r.last) {
		return nil, core.ErrInUse
	}
	gr, err := core.NewGrant(r.layout, 3, r.last.Close(), r.until)
	if err == nil {
		r.last = gr
		r.given++
	}
	return gr, err
}

// Generators are closed while many draw from them, and made anew under the same
// worker ID by several at once. One wins each time, and no id comes twice: without a
// clock, an id that is issued after Done would come again at once.
func TestRelay(t *testing.T) {
	l := core.Layout{TimeBits: 41, WorkerBits: 4, SequenceBits: 4}
	now := time.Now()
	r := &relay{layout: l, until: now.Add(1000 * time.Hour), last: mustGrant(t, l, 3, now, now.Add(time.Hour))}
	r.last.Close()
	cycles := 5000
	if testing.Short() {
		cycles = 500
	}
	var all [][]int64
	var mu sync.Mutex
	for range cycles {
		made := make(chan *core.Generator, 4)
		var makers, writers sync.WaitGroup
		for i := range 4 {
			makers.Go(func() {
				cfg := core.Config{Worker: r, ClockPolicy: core.Logical{Detached: true}}
				if i == 0 {
					cfg.NotBefore = l.End() // fails when it has the grant
				}
				g, err := core.New(cfg)
				switch {
				case err == nil:
					made <- g
				case i == 0 && errors.As(err, new(*core.ConfigError)), errors.Is(err, core.ErrInUse):
				default:
					t.Error(err)
				}
			})
		}
		makers.Wait()
		if len(made) == 0 { // the one that fails had the grant when the others asked
			g, err := core.New(core.Config{Worker: r, ClockPolicy: core.Logical{Detached: true}})
			if err != nil {
				t.Fatal(err)
			}
			made <- g
		}
		close(made)
		if len(made) > 1 {
			t.Fatalf("%d generators under one worker ID", len(made))
		}
		for g := range made {
			for range 3 {
				writers.Go(func() {
					var got []int64
					block := make([]int64, 7)
					for g.Fill(t.Context(), block) == nil {
						got = append(got, block...)
						runtime.Gosched()
						id, err := g.Next(t.Context())
						if err != nil {
							break
						}
						got = append(got, id)
					}
					mu.Lock()
					all = append(all, got)
					mu.Unlock()
				})
			}
			writers.Go(func() { runtime.Gosched(); g.Close() })
			<-r.last.Done()
			if again, err := core.New(core.Config{Worker: r, ClockPolicy: core.Logical{Detached: true}}); err != nil {
				t.Error(err)
			} else {
				id, err := again.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				all = append(all, []int64{id})
				mu.Unlock()
				again.Close()
			}
			writers.Wait()
		}
	}
	ids := slices.Concat(all...)
	noDuplicates(t, ids)
	if len(ids) < cycles {
		t.Errorf("only %d ids in %d cycles", len(ids), cycles)
	}
	t.Logf("%d ids under %d grants", len(ids), r.given)
}
