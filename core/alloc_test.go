package core_test

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Success costs no allocation, whatever the strategy and the sequence.
func TestNoAllocations(t *testing.T) {
	for name, cfg := range strategies() {
		g := mustNew(t, cfg)
		ids := make([]int64, 1000)
		draw := func() {
			if _, err := g.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		fill := func() {
			if err := g.Fill(t.Context(), ids); err != nil {
				t.Fatal(err)
			}
		}
		fill() // waits for the first tick
		if n := testing.AllocsPerRun(10_000, draw); n != 0 {
			t.Errorf("%s: Next makes %v allocations", name, n)
		}
		if n := testing.AllocsPerRun(200, fill); n != 0 {
			t.Errorf("%s: Fill makes %v allocations", name, n)
		}
	}
	g := mustNew(t, core.Config{Worker: core.Fixed(1)})
	if n := testing.AllocsPerRun(100, func() { _ = g.Stats() }); n != 0 {
		t.Errorf("Stats makes %v allocations", n)
	}
}
