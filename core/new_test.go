package core_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestNewRefuses(t *testing.T) {
	future := core.Layout{Epoch: time.Now().Add(time.Hour).Truncate(time.Millisecond)}
	over := core.Layout{TimeBits: 10, WorkerBits: 5, SequenceBits: 12}
	for _, c := range []struct {
		name string
		cfg  core.Config
		want string
	}{
		{"no worker", core.Config{}, "Worker nil"},
		{"worker too large", core.Config{Worker: core.Fixed(1024)}, "Worker 1024: must be 0 to 1023"},
		{"worker negative", core.Config{Worker: core.Fixed(-1)}, "Worker -1"},
		{"layout", core.Config{Layout: core.Layout{Tick: 1}, Worker: core.Fixed(1)}, "Layout.Tick 1ns"},
		{"all faults", core.Config{Layout: core.Layout{Tick: 1}, MaxWait: -1, ClockPolicy: core.Logical{MaxAhead: -1}}, "Layout.Tick 1ns"},
		{"wait", core.Config{Worker: core.Fixed(1), MaxWait: -time.Second}, "MaxWait -1s"},
		{"sequence", core.Config{Worker: core.Fixed(1), Sequence: 3}, "Sequence 3"},
		{"jump", core.Config{Worker: core.Fixed(1), MaxJump: -time.Second}, "MaxJump -1s"},
		{"rollback", core.Config{Worker: core.Fixed(1), ClockPolicy: core.Rollback{}}, "RollbackBits"},
		{"wait max", core.Config{Worker: core.Fixed(1), ClockPolicy: core.Wait{Max: -1}}, "ClockPolicy.Max -1ns"},
		{"window", core.Config{Worker: core.Fixed(1), ClockPolicy: core.Reuse{Window: 2 * time.Hour}}, "ClockPolicy.Window 2h0m0s"},
		{"future epoch", core.Config{Layout: future, Worker: core.Fixed(1)}, "is in the future"},
		{"time over", core.Config{Layout: over, Worker: core.Fixed(1)}, "has run out"},
		{"not before", core.Config{Worker: core.Fixed(1), NotBefore: core.Twitter().End()}, "NotBefore"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := core.New(c.cfg)
			if err == nil || g != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	var ce *core.ConfigError
	if _, err := core.New(core.Config{Layout: core.Layout{Tick: 1}, MaxWait: -1, ClockPolicy: core.Logical{MaxAhead: -1}}); !errors.As(err, &ce) || len(ce.Fields) != 4 {
		t.Errorf("want 4 faults, got %v", err)
	}
	if _, err := core.New(core.Config{Layout: over, Worker: core.Fixed(1)}); !errors.Is(err, core.ErrTimestampExhausted) {
		t.Error(err)
	}
}

func TestOneFixedServesOneGenerator(t *testing.T) {
	worker := core.Fixed(5)
	g := mustNew(t, core.Config{Worker: worker})
	if _, err := core.New(core.Config{Worker: worker}); !errors.Is(err, core.ErrInUse) {
		t.Fatal(err)
	}
	g.Close()
	if _, err := core.New(core.Config{Worker: worker, MaxWait: -1}); err == nil {
		t.Fatal("a bad Config was taken")
	}
	mustNew(t, core.Config{Worker: worker})
	// A New that fails late leaves the worker free.
	late := core.Fixed(9999)
	for range 2 {
		if _, err := core.New(core.Config{Worker: late}); errors.Is(err, core.ErrInUse) || err == nil {
			t.Error(err)
		}
	}
}

func TestNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		bound := time.Now().Add(300 * time.Millisecond)
		g := mustNew(t, core.Config{Worker: core.Fixed(1), NotBefore: bound})
		id, err := g.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := core.Twitter().Decode(id); !p.Time.After(bound) {
			t.Errorf("the first id is of %v, not after %v", p.Time, bound)
		}
		far := mustNew(t, core.Config{Worker: core.Fixed(1), NotBefore: time.Now().Add(time.Hour)})
		var ce *core.ClockError
		if _, err := far.Next(t.Context()); !errors.As(err, &ce) || ce.Back < 59*time.Minute {
			t.Errorf("an hour ahead: %v", err)
		}
	})
}
