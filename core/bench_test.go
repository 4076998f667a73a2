package core_test

import (
	"context"
	"fmt"
	"testing"

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

func BenchmarkDecode(b *testing.B) {
	l := core.Twitter()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Decode(1996573624012345677); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	measure(b, "", 1, func(g *core.Generator) func() error {
		return func() error { _, err := g.Next(context.Background()); return err }
	})
}

func BenchmarkFill(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		measure(b, fmt.Sprint(size, "/"), size, func(g *core.Generator) func() error {
			ids := make([]int64, size)
			return func() error { return g.Fill(context.Background(), ids) }
		})
	}
}

// measure measures calls of one goroutine, and then of several, which each get their own call.
func measure(b *testing.B, prefix string, size int, caller func(*core.Generator) func() error) {
	for name, layout := range map[string]core.Layout{"uncapped": uncapped(), "twitter": core.Twitter()} {
		b.Run(prefix+name, func(b *testing.B) {
			call := caller(mustNew(b, core.Config{Layout: layout, Worker: core.Fixed(1)}))
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/id")
		})
		b.Run(prefix+name+"/parallel", func(b *testing.B) {
			g := mustNew(b, core.Config{Layout: layout, Worker: core.Fixed(1)})
			b.RunParallel(func(pb *testing.PB) {
				for call := caller(g); pb.Next(); {
					if err := call(); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/id")
		})
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
