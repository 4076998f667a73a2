package generate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/cputime"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/peers"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
	"github.com/seed-299c1d6b/snowkey/core"
)

func TestBenchmarks(t *testing.T) {
	smoke.Run(t, "Next", "Loop", "Block", "ColdStart", "Beside", "Segments")
}

// BenchmarkNext makes one id after another, from one generator. cpu-% is the share of one core that
// is busy while a generator waits at the cap of its layout.
func BenchmarkNext(b *testing.B) {
	for _, mode := range []struct {
		name       string
		peers      []peers.Peer
		goroutines []int
	}{
		{"uncapped", slices.Concat(peers.Uncapped(), peers.Floors()), []int{1, 2, 4, 24}},
		{"capped", peers.Capped(), []int{1, 24}},
		{"sonyflake", peers.CappedSonyflake(), []int{1, 24}},
	} {
		for _, goroutines := range mode.goroutines {
			for _, p := range scale.Rotate(b, mode.peers) {
				b.Run(fmt.Sprintf("mode=%s/goroutines=%d/lib=%s", mode.name, goroutines, p.Name), func(b *testing.B) {
					next := p.Make(b)
					if err := next(); err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					busy := cputime.Busy(b)
					if goroutines == 1 {
						for b.Loop() {
							if err := next(); err != nil {
								b.Fatal(err)
							}
						}
					} else {
						together(b, goroutines, next)
					}
					took := b.Elapsed()
					b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/id")
					if mode.name != "uncapped" {
						b.ReportMetric(100*float64(cputime.Busy(b)-busy)/float64(took), "cpu-%")
					}
					b.ReportMetric(0, "ns/op") // the same, said once
				})
			}
		}
	}
}

// together makes b.N ids by a number of goroutines that begin at once.
func together(b *testing.B, goroutines int, next peers.Next) {
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range goroutines {
		n := b.N / goroutines
		if i < b.N%goroutines {
			n++
		}
		wg.Go(func() {
			<-begin
			for range n {
				if err := next(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	b.ResetTimer()
	close(begin)
	wg.Wait()
	b.StopTimer()
}

// BenchmarkLoop is the loop that a user would write first, without a function value between it and
// the generator. snowkey-leased is below a fence; clock is one reading of the monotonic clock.
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

// BenchmarkBlock makes 1,000 ids for rows that will be written together. No other library makes
// several at once, so those are called 1,000 times.
func BenchmarkBlock(b *testing.B) {
	const rows = 1000
	for _, p := range scale.Rotate(b, peers.Uncapped()) {
		b.Run("mode=uncapped/lib="+p.Name, func(b *testing.B) {
			next := p.Make(b)
			block := func() (err error) {
				for i := 0; i < rows && err == nil; i++ {
					err = next()
				}
				return err
			}
			if p.Name == "snowkey" {
				g, ids := peers.Generator(b, peers.Wide()), make([]int64, rows)
				block = func() error { return g.Fill(context.Background(), ids) }
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

// BenchmarkColdStart is the time to the first id of a new generator. Ours begins one tick later,
// because another one that was closed in this tick may have issued the same id. Others do not wait:
// two that are made in one millisecond begin with the same id.
func BenchmarkColdStart(b *testing.B) {
	for _, p := range scale.Rotate(b, peers.Uncapped()[:3]) {
		b.Run("lib="+p.Name, func(b *testing.B) {
			for b.Loop() {
				if err := p.Make(b)(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
