package snowotel_test

import (
	"context"
	"fmt"
	"log/slog"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed-299c1d6b/snowkey/contrib/snowotel"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func ExampleNewMetrics() {
	ctx := context.Background()
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	reader := sdkmetric.NewManualReader() // a program has an exporter
	metrics, err := snowotel.NewMetrics(snowotel.MetricsConfig{
		Generator: gen, Namespace: "orders",
		MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer metrics.Close()

	_ = gen.Fill(ctx, make([]int64, 5))
	var data metricdata.ResourceMetrics
	_ = reader.Collect(ctx, &data)
	for _, m := range data.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "snowkey.ids.issued" {
			fmt.Println(m.Name, sum.DataPoints[0].Value, m.Unit)
		}
	}
	// Output: snowkey.ids.issued 5 {id}
}

// Close ends the collection.
func ExampleMetrics_Close() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	metrics, err := snowotel.NewMetrics(snowotel.MetricsConfig{Generator: gen}) // of the global provider
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(metrics.Close())
	// Output: <nil>
}

// The lease's events go to a log, and its requests become spans.
func ExampleNewTracer() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter() // a program has an exporter
	tracer := snowotel.NewTracer(snowotel.TracerConfig{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
		Next:           core.LogTo(slog.New(slog.DiscardHandler)),
	})
	store := memstore.New(memstore.Config{}) // a program has a database
	gen, err := worker.Open(ctx, store, worker.Config{Namespace: "orders", Observer: tracer})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := gen.Close(ctx); err != nil {
		fmt.Println(err)
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// snowkey.lease.claim
	// snowkey.lease.release
}
