//go:build unix

package core_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// BenchmarkWaiting measures how much of a core is busy while goroutines take all
// ids that a layout gives, and so wait most of the time: 100 is one core. The
// ids that come out, as a share of those that fit, are reported next to it.
func BenchmarkWaiting(b *testing.B) {
	for name, layout := range map[string]core.Layout{
		"twitter":   core.Twitter(),
		"sonyflake": core.Sonyflake(),
		"16a1ms":    {TimeBits: 41, WorkerBits: 10, SequenceBits: 4},
	} {
		for _, goroutines := range []int{1, 2, 24} {
			b.Run(fmt.Sprintf("%s/%d", name, goroutines), func(b *testing.B) {
				g, ctx := mustNew(b, core.Config{Layout: layout, Worker: core.Fixed(1), MaxWait: time.Minute}), context.Background()
				if _, err := g.Next(ctx); err != nil {
					b.Fatal(err)
				}
				began, busy := time.Now(), cpu(b)
				var wg sync.WaitGroup
				for i := range goroutines {
					n := b.N / goroutines
					if i == 0 {
						n = b.N - (goroutines-1)*n
					}
					wg.Go(func() {
						for range n {
							if _, err := g.Next(ctx); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				took := time.Since(began)
				b.ReportMetric(100*float64(cpu(b)-busy)/float64(took), "cpu-%")
				b.ReportMetric(100*float64(b.N)/(float64(took)/float64(g.Layout().Tick)*float64(layout.IDsPerTick())), "ids-%")
				runtime.KeepAlive(g)
			})
		}
	}
}

// cpu is the time that this process has been busy.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
