package shards

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestNext(t *testing.T) {
	g, err := core.New(core.Config{Worker: core.Fixed(9)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFill(t *testing.T) {
	for _, n := range []int{1, 2, 5000} {
		g, err := core.New(core.Config{Worker: core.Fixed(9)}) // OK 54: tests, whose ids are never stored
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Fill(t.Context(), make([]int64, n)); err != nil {
			t.Error(err)
		}
		g.Close()
	}
}
