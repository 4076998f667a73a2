package generate

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/cputime"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/peers"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
)

// BenchmarkNext makes one id after another, from one generator.
func BenchmarkNext(b *testing.B) {
	for _, mode := range []struct {
		name       string
		peers      []peers.Peer
		goroutines []int
	}{
		{"uncapped", slices.Concat(peers.Uncapped(), peers.Floors()), []int{1, 2, 4, 8, 24}},
		{"capped", peers.Capped(), []int{1, 2, 24}},
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
					if mode.name != "uncapped" { // how busy it is while it waits
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

// BenchmarkProcessors is for go test -cpu: one goroutine for each processor.
func BenchmarkProcessors(b *testing.B) {
	chosen := map[string]bool{"snowkey": true, "bwmarrin": true, "sonyflake2": true, "google-uuid7": true, "ulid": true, "xid": true}
	for _, p := range scale.Rotate(b, slices.Concat(peers.Uncapped(), peers.Floors()[1:2])) {
		if !chosen[p.Name] && p.Name != "floor-clock-and-swap" {
			continue
		}
		b.Run("procs=n/lib="+p.Name, func(b *testing.B) {
			next := p.Make(b)
			if err := next(); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := next(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
