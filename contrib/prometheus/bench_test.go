package prometheus_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	snowprom "github.com/seed-299c1d6b/snowkey/contrib/prometheus"
	"github.com/seed-299c1d6b/snowkey/core"
)

// BenchmarkNext compares a generator that is scraped once a second, with one that has no
// collector. They take turns, and their ratio is the metric scraped/alone.
func BenchmarkNext(b *testing.B) {
	generator := func() *core.Generator {
		gen, err := core.New(core.Config{Layout: core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 20}, Worker: core.Fixed(1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(gen.Close)
		return gen
	}
	alone, scraped := generator(), generator()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(b, snowprom.Config{Generator: scraped}))
	scrapes, stop := 0, make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if _, err := registry.Gather(); err != nil {
				b.Error(err)
			}
			scrapes++
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	const turn = 100_000 // a few milliseconds
	ctx := context.Background()
	var took [2]time.Duration
	draw := func(i int, gen *core.Generator) {
		began := time.Now()
		for range turn {
			if _, err := gen.Next(ctx); err != nil {
				b.Fatal(err)
			}
		}
		took[i] += time.Since(began)
	}
	n := 0
	for b.Loop() {
		if n++; n%2 == 0 { // neither is always the first
			draw(0, alone)
			draw(1, scraped)
		} else {
			draw(1, scraped)
			draw(0, alone)
		}
	}
	close(stop)
	<-done
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[0])/float64(n*turn), "ns/alone")
	b.ReportMetric(float64(took[1])/float64(n*turn), "ns/scraped")
	b.ReportMetric(float64(took[1])/float64(took[0]), "scraped/alone")
	b.ReportMetric(float64(scrapes), "scrapes")
}

// BenchmarkScrape is what one scrape costs.
func BenchmarkScrape(b *testing.B) {
	gen := leasedGenerator(b, "orders")
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(b, snowprom.Config{Generator: gen}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
