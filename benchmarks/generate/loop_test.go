package generate

import (
	"context"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/peers"
	"github.com/seed-299c1d6b/snowkey/core"
)

// BenchmarkLoop is the loop that a user would write first, without a function value between it
// and the generator. (What it measures beside BenchmarkNext is that call.)
func BenchmarkLoop(b *testing.B) {
	var id int64
	ours := func(worker core.GrantSource) func(b *testing.B) {
		return func(b *testing.B) {
			g, err := core.New(core.Config{Layout: peers.Wide(), Worker: worker})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			ctx := context.Background()
			b.ResetTimer()
			for range b.N {
				id, _ = g.Next(ctx)
			}
		}
	}
	b.Run("lib=snowkey", ours(core.Fixed(1)))
	b.Run("lib=snowkey-leased", ours(leased{}))
	b.Run("lib=bwmarrin", func(b *testing.B) {
		node := peers.Bwmarrin(b, 2, 20)
		b.ResetTimer()
		for range b.N {
			id = node.Generate().Int64()
		}
	})
	b.Run("lib=clock", func(b *testing.B) {
		start := time.Now()
		for range b.N {
			id = int64(time.Since(start))
		}
	})
	if id == 0 {
		b.Error("no id was made")
	}
}

// leased grants a worker ID below a fence, as a lease does.
type leased struct{}

func (leased) Grant(context.Context, *core.Grant) (*core.Grant, error) {
	return core.NewGrant(peers.Wide(), 1, time.Now(), time.Now().Add(time.Hour))
}
