package core_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// uncapped allows 2^20 ids a millisecond, more than one process can draw.
func uncapped() core.Layout { return core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 20} }

func mustNew(tb testing.TB, cfg core.Config) *core.Generator {
	tb.Helper()
	g, err := core.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(g.Close)
	return g
}

// BenchmarkFloor is what an id must cost at the least: a clock read and a swap.
func BenchmarkFloor(b *testing.B) {
	start := time.Now()
	b.Run("Since", func(b *testing.B) {
		var sum time.Duration
		for b.Loop() {
			sum += time.Since(start)
		}
		_ = sum
	})
	b.Run("Since+CAS", func(b *testing.B) {
		var word atomic.Uint64
		for b.Loop() {
			old := word.Load()
			word.CompareAndSwap(old, old+uint64(time.Since(start))>>40+1)
		}
	})
	b.Run("Add", func(b *testing.B) {
		var word atomic.Uint64
		for b.Loop() {
			word.Add(1)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for name, layout := range map[string]core.Layout{"uncapped": uncapped(), "twitter": core.Twitter()} {
		b.Run(name, func(b *testing.B) {
			g, ctx := mustNew(b, core.Config{Layout: layout, Worker: core.Fixed(1)}), context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Next(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			g, ctx := mustNew(b, core.Config{Layout: layout, Worker: core.Fixed(1)}), context.Background()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := g.Next(ctx); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	l := core.Twitter()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Decode(1996573624012345677); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		for name, layout := range map[string]core.Layout{"uncapped": uncapped(), "twitter": core.Twitter()} {
			b.Run(fmt.Sprintf("%d/%s", size, name), func(b *testing.B) {
				g, ctx := mustNew(b, core.Config{Layout: layout, Worker: core.Fixed(1)}), context.Background()
				ids := make([]int64, size)
				b.ReportAllocs()
				for b.Loop() {
					if err := g.Fill(ctx, ids); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/id")
			})
			b.Run(fmt.Sprintf("%d/%s/parallel", size, name), func(b *testing.B) {
				g, ctx := mustNew(b, core.Config{Layout: layout, Worker: core.Fixed(1)}), context.Background()
				b.RunParallel(func(pb *testing.PB) {
					ids := make([]int64, size)
					for pb.Next() {
						if err := g.Fill(ctx, ids); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/id")
			})
		}
	}
}
