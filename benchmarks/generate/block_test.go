package generate

import (
	"context"
	"testing"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/peers"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/core"
)

// BenchmarkBlock makes 1,000 ids for rows that will be written together. No other
// library makes several at once, so those are asked as often.
func BenchmarkBlock(b *testing.B) {
	for _, mode := range []struct {
		name   string
		layout core.Layout
		peers  []peers.Peer
	}{
		{"uncapped", peers.Wide(), peers.Uncapped()},
		{"capped", core.Twitter(), peers.Capped()},
	} {
		for _, p := range scale.Rotate(b, mode.peers) {
			b.Run("mode="+mode.name+"/lib="+p.Name, func(b *testing.B) {
				block := many(p.Make(b))
				if p.Name == "snowkey" {
					block = fill(b, mode.layout)
				}
				if err := block(); err != nil { // a new generator's first waits for a tick
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := block(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/id")
				b.ReportMetric(0, "ns/op") // the same, said once
			})
		}
	}
}

const rows = 1000

func fill(b *testing.B, layout core.Layout) func() error {
	g, ids, ctx := peers.Generator(b, layout), make([]int64, rows), context.Background()
	return func() error { return g.Fill(ctx, ids) }
}

func many(next peers.Next) func() error {
	return func() error {
		for range rows {
			if err := next(); err != nil {
				return err
			}
		}
		return nil
	}
}
