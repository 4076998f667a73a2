package core_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A call that was paused for longer than it may wait, at whichever look at the clock,
// finds that a slot has come meanwhile: it is no error that says "in 0s".
func TestPausedCall(t *testing.T) {
	for name, back := range map[string]core.ClockPolicy{"Logical": nil, "Refuse": core.Refuse{}, "Wait": core.Wait{Max: time.Second}} {
		t.Run(name, func(t *testing.T) {
			for at := range 8 {
				inBubble(t, func(t *testing.T, _ *manual) {
					reads := -1 << 30
					now := func() time.Time {
						read := time.Now()
						if reads++; reads == at {
							time.Sleep(5 * time.Second)
						}
						return read
					}
					g := mustNew(t, core.Config{Layout: small(), Worker: core.Fixed(1), Now: now, ClockPolicy: back})
					if err := g.Fill(t.Context(), make([]int64, 40)); err != nil {
						t.Fatal(err)
					}
					for i := range 40 {
						reads = -1
						if _, err := g.Next(t.Context()); err != nil {
							t.Fatalf("paused at look %d of call %d: %v", at, i, err)
						}
					}
				})
			}
		})
	}
}

// Nor does it wait any longer than before for what does not come.
func TestOneWaitForAFence(t *testing.T) {
	bubble(t, func(t *testing.T, l core.Layout, now time.Time) {
		gr := mustGrant(t, l, 3, now, now.Add(time.Millisecond))
		g := mustNew(t, core.Config{Worker: holder{gr}, MaxWait: time.Second})
		time.Sleep(2 * time.Millisecond)
		began := time.Now()
		if _, err := g.Next(t.Context()); !errors.Is(err, core.ErrFenced) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
