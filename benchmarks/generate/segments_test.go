package generate

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/peers"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// BenchmarkSegments takes 1,000 ids from a generator and 1,000 from Segments in turn. x-snowkey is how
// many times as long the ids of Segments take. Their counter answers at once, or after a millisecond,
// as a database on the network does: then at most half a Block is issued in that time.
func BenchmarkSegments(b *testing.B) {
	const rows = 1000
	ctx, ids := context.Background(), make([]int64, rows)
	for call, take := range map[string]func(src sqltype.Source) error{
		"fill": func(src sqltype.Source) error { return src.Fill(ctx, ids) },
		"next": func(src sqltype.Source) (err error) {
			for i := range ids {
				if ids[i], err = src.Next(ctx); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		for _, m := range []struct {
			block int64
			trip  time.Duration
		}{{1000, 0}, {1_000_000, 0}, {1_000_000, time.Millisecond}} {
			b.Run(fmt.Sprintf("call=%s/block=%d/trip=%v", call, m.block, m.trip), func(b *testing.B) {
				var last atomic.Int64
				s, err := serial.NewSegments(serial.SegmentsConfig{Key: "rows", Block: m.block, Counter: serial.CounterFunc(func(_ context.Context, _ string, n int64) (int64, error) {
					time.Sleep(m.trip)
					return last.Add(n) - n + 1, nil
				})})
				if err != nil {
					b.Fatal(err)
				}
				sources := []sqltype.Source{peers.Generator(b, peers.Wide()), s}
				took := make([]time.Duration, len(sources))
				for b.Loop() {
					for i, src := range sources {
						began := time.Now()
						if err := take(src); err != nil {
							b.Fatal(err)
						}
						took[i] += time.Since(began)
					}
				}
				b.ReportMetric(float64(took[1].Nanoseconds())/float64(b.N)/rows, "ns/id")
				b.ReportMetric(float64(took[1])/float64(took[0]), "x-snowkey")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
