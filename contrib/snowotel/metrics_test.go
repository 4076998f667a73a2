package snowotel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	promexporter "go.opentelemetry.io/otel/exporters/prometheus"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/seed-299c1d6b/snowkey/contrib/snowotel"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func leasedGenerator(t testing.TB) *worker.Generator {
	t.Helper()
	gen, err := worker.Open(t.Context(), memstore.New(memstore.Config{}), worker.Config{Namespace: "orders"})
	must(t, err)
	t.Cleanup(func() { _ = gen.Close(context.Background()) })
	return gen
}

// distinct are the generator's metrics, and the one that has a value for each state only once.
func distinct(gen *worker.Generator) []core.Metric {
	return slices.CompactFunc(gen.Metrics(), func(a, b core.Metric) bool { return a.Name == b.Name })
}

// collect returns what a reader gets, by name.
func collect(t *testing.T, reader *sdkmetric.ManualReader) map[string]metricdata.Metrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	must(t, reader.Collect(t.Context(), &data))
	all := map[string]metricdata.Metrics{}
	for _, scope := range data.ScopeMetrics {
		if scope.Scope != (instrumentation.Scope{Name: "github.com/seed-299c1d6b/snowkey/contrib/snowotel"}) {
			t.Errorf("the scope is %v", scope.Scope)
		}
		for _, m := range scope.Metrics {
			all[m.Name] = m
		}
	}
	return all
}

func TestMetrics(t *testing.T) {
	gen := leasedGenerator(t)
	must(t, gen.Fill(t.Context(), make([]int64, 7)))
	reader := sdkmetric.NewManualReader()
	m, err := snowotel.NewMetrics(snowotel.MetricsConfig{Generator: gen, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
	must(t, err)
	got := collect(t, reader)
	for _, want := range distinct(gen) {
		m, ok := got[want.Name]
		if !ok || m.Unit != want.Unit || m.Description != want.Help {
			t.Errorf("%s is %+v", want.Name, m)
		}
		_, counter := m.Data.(metricdata.Sum[int64])
		_, gauge := m.Data.(metricdata.Gauge[int64])
		_, float := m.Data.(metricdata.Gauge[float64])
		if counter != want.Counter || gauge != (!want.Counter && want.Unit != "s") || float != (want.Unit == "s") {
			t.Errorf("%s is a %T", want.Name, m.Data)
		}
		delete(got, want.Name)
	}
	if len(got) > 0 {
		t.Errorf("also %v", got)
	}

	got = collect(t, reader)
	set := attribute.NewSet(attribute.String("snowkey.namespace", "orders"))
	metricdatatest.AssertEqual(t, metricdata.Metrics{
		Name: "snowkey.ids.issued", Unit: "{id}", Description: "Ids taken from the generator, including those of a cancelled Fill.",
		Data: metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true, DataPoints: []metricdata.DataPoint[int64]{{Attributes: set, Value: 7}}},
	}, got["snowkey.ids.issued"], metricdatatest.IgnoreTimestamp())
	if left := got["snowkey.fence.left"].Data.(metricdata.Gauge[float64]).DataPoints; len(left) != 1 || left[0].Value < 20 || left[0].Value > 30 {
		t.Errorf("%+v", left)
	}
	states := map[string]int64{}
	for _, point := range got["snowkey.lease.state"].Data.(metricdata.Gauge[int64]).DataPoints {
		state, _ := point.Attributes.Value("snowkey.lease.state")
		states[state.AsString()] = point.Value
	}
	if states["held"] != 1 || states["lost"] != 0 || len(states) != 6 {
		t.Errorf("%v", states)
	}

	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("after Close: %v", got)
	}
	if err := (*snowotel.Metrics)(nil).Close(); err != nil {
		t.Error(err)
	}
}

// inPrometheus is the name of a metric in package contrib/snowprom.
func inPrometheus(m core.Metric) string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	if m.Unit == "s" {
		name += "_seconds"
	}
	if m.Counter {
		name += "_total"
	}
	return name
}

// The exporter for Prometheus makes the names and labels of package contrib/snowprom, which its
// alert rules and its dashboard use.
func TestNamesOfPrometheus(t *testing.T) {
	registry := prometheus.NewRegistry()
	exporter, err := promexporter.New(promexporter.WithRegisterer(registry), promexporter.WithoutScopeInfo(), promexporter.WithoutTargetInfo())
	must(t, err)
	gen := leasedGenerator(t)
	if _, err := snowotel.NewMetrics(snowotel.MetricsConfig{Generator: gen, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))}); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	must(t, err)
	want := distinct(gen)
	for _, family := range families {
		if i := slices.IndexFunc(want, func(m core.Metric) bool { return inPrometheus(m) == family.GetName() }); i >= 0 {
			want = slices.Delete(want, i, i+1)
		} else {
			t.Errorf("%s is not in the list", family.GetName())
		}
		labels := family.GetMetric()[0].GetLabel()
		if last := labels[len(labels)-1]; last.GetName() != "snowkey_namespace" || last.GetValue() != "orders" {
			t.Errorf("%s has the labels %v", family.GetName(), labels)
		}
	}
	for _, m := range want {
		t.Errorf("no %s", m.Name)
	}
}

func TestConfigErrors(t *testing.T) {
	for name, cfg := range map[string]snowotel.MetricsConfig{"missing": {}, "zero": {Generator: new(worker.Generator)}} {
		m, err := snowotel.NewMetrics(cfg)
		var config *core.ConfigError
		if m != nil || !errors.As(err, &config) || err.Error() != "snowotel: Generator nil or zero: must come from core.New or an Open" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
