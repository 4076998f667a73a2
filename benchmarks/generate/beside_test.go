package generate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/cputime"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// BenchmarkBeside measures how long Next takes next to goroutines that fill without end, as an import
// next to a service's inserts. p50-µs and p99-µs are of all calls of Next, failed is how many calls got
// no id, and cap-% is how many of the layout's ids all of them got.
func BenchmarkBeside(b *testing.B) {
	for _, m := range []struct {
		layout  string
		of      core.Layout
		fillers int
		size    int
	}{
		{"twitter", core.Twitter(), 1, 10_000},
		{"twitter", core.Twitter(), 24, 10_000},
		{"javascript", core.JavaScriptSafe(), 1, 1000},
	} {
		name := fmt.Sprintf("layout=%s/fillers=%d", m.layout, m.fillers)
		b.Run(name+"/lease=none", func(b *testing.B) {
			g, err := core.New(core.Config{Layout: m.of, Worker: core.Fixed(1)})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			beside(b, g, func() (issued, waited uint64) { st := g.Stats(); return st.Issued, st.Waited }, m.of, m.fillers, m.size)
		})
		b.Run(name+"/lease=memstore", func(b *testing.B) {
			g, err := worker.Open(context.Background(), memstore.New(memstore.Config{}), worker.Config{Layout: m.of})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = g.Close(context.Background()) }()
			beside(b, g, func() (issued, waited uint64) { st := g.Stats(); return st.Issued, st.Waited }, m.of, m.fillers, m.size)
		})
	}
}

// beside calls Next b.N times from eight goroutines that pause for a millisecond or two, as those
// that insert rows do.
func beside(b *testing.B, g sqltype.Source, counts func() (issued, waited uint64), l core.Layout, fillers, size int) {
	ctx, end := context.WithCancel(context.Background())
	var filling, calling sync.WaitGroup
	var next, failed atomic.Int64
	for range fillers {
		filling.Go(func() {
			for ids := make([]int64, size); ctx.Err() == nil; {
				if err := g.Fill(ctx, ids); err != nil && ctx.Err() == nil {
					failed.Add(1)
				}
			}
		})
	}
	reachCap(b, counts)
	took := make([]time.Duration, b.N)
	b.ResetTimer()
	busy := cputime.Busy(b)
	before, _ := counts()
	for range 8 {
		calling.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				began := time.Now()
				if _, err := g.Next(ctx); err != nil {
					failed.Add(1)
				}
				took[i-1] = time.Since(began)
				time.Sleep(time.Duration(1+rand.IntN(1000)) * time.Microsecond)
			}
		})
	}
	calling.Wait()
	elapsed := b.Elapsed()
	busy = cputime.Busy(b) - busy
	after, _ := counts()
	end()
	filling.Wait()
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[min(len(took)*p/100, len(took)-1)].Microseconds()), fmt.Sprintf("p%d-µs", p))
	}
	b.ReportMetric(float64(failed.Load()), "failed")
	b.ReportMetric(100*float64(after-before)/(float64(elapsed)/float64(l.Tick)*float64(l.IDsPerTick())), "cap-%")
	b.ReportMetric(100*float64(busy)/float64(elapsed), "cpu-%")
	b.ReportMetric(0, "ns/op")
}

// reachCap waits until the fillers wait. Under a lease that is when ids are MaxAhead ahead.
func reachCap(b *testing.B, counts func() (issued, waited uint64)) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, waited := counts(); waited > 0 {
			return
		}
	}
	b.Fatal("the fillers do not reach the cap")
}
