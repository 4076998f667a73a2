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
	if err != nil {
		t.Fatal(err)
	}
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
		time.AfterFunc(100*time.Millisecond, func() { gr.RaiseFence(time.Now().Add(time.Second)) })
		began := time.Now()
		id, err := g.Next(t.Context())
		if err != nil || id <= last || time.Since(began) != 100*time.Millisecond {
			t.Errorf("after Raise: %d, %v, having waited %v", id, err, time.Since(began))
		}
	})
}

// Below a fence, ids may run ahead of the clock by MaxAhead and no farther; the
// grant's first tick may lie ahead of the clock as well.
func TestAheadOfTheClockBelowAFence(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		gr := mustGrant(t, l, 3, now.Add(time.Minute), now.Add(time.Hour))
		g := mustNew(t, core.Config{Worker: holder{gr}, ClockPolicy: core.Logical{MaxAhead: 10 * time.Millisecond}})
		ids := make([]int64, 11*4096)
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(now); waited != 0 {
			t.Errorf("11 ticks under MaxAhead 10ms took %v", waited)
		}
		p, _ := l.Decode(ids[0])
		if !p.Time.Equal(now.Add(time.Minute)) {
			t.Errorf("begins at %v, not at the grant's %v", p.Time, now.Add(time.Minute))
		}
		noDuplicates(t, ids)
	})
}

func TestRevokedAndClosedGrants(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		cause := errors.New("somebody took the row")
		gr := mustGrant(t, l, 3, now, now.Add(time.Hour))
		g := mustNew(t, core.Config{Worker: holder{gr}})
		id, err := g.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gr.Revoke(cause)
		gr.RaiseFence(now.Add(2 * time.Hour)) // too late to help
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrLost) || !errors.Is(err, cause) {
			t.Errorf("after Revoke: %v", err)
		}
		p, _ := l.Decode(id)
		if unused := gr.Close(); !unused.Equal(p.Time.Add(l.Tick)) {
			t.Errorf("first unused is %v, the last id is of %v", unused, p.Time)
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

func TestGrantServesOneGenerator(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		gr := mustGrant(t, l, 3, now, now.Add(time.Hour))
		g := mustNew(t, core.Config{Worker: holder{gr}})
		if _, err := core.New(core.Config{Worker: holder{gr}}); !errors.Is(err, core.ErrInUse) {
			t.Error(err)
		}
		if _, err := g.Next(t.Context()); err != nil {
			t.Errorf("the first generator was harmed: %v", err)
		}
		other := mustGrant(t, core.Discord(), 3, time.Time{}, time.Time{})
		if _, err := core.New(core.Config{Layout: l, Worker: holder{other}}); err == nil || !strings.Contains(err.Error(), "must be the grant's") {
			t.Errorf("two layouts: %v", err)
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
	for name, w := range map[string]core.GrantSource{"no grant": holder{}, "an error": failing{}} {
		if _, err := core.New(core.Config{Worker: w}); err == nil || !strings.Contains(err.Error(), "no worker ID") {
			t.Errorf("a Worker that gives %s: %v", name, err)
		}
	}
}

type failing struct{}

func (failing) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	return nil, errors.New("the store is down")
}
