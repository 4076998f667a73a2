package otel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/metrics"
	"github.com/seed-299c1d6b/snowkey/worker"
)

const scope = "github.com/seed-299c1d6b/snowkey/contrib/otel"

// MetricsConfig configures Metrics. Generator or Lease is required; give both if the generator
// has a lease.
type MetricsConfig struct {
	Generator     *core.Generator      // nil: only the metrics of the lease
	Lease         *worker.Lease        // nil: only the metrics of the generator
	Namespace     string               // the attribute snowkey.namespace; zero: the lease's namespace, or "default" without a lease
	MeterProvider metric.MeterProvider // nil: the global one
}

// Metrics are the instruments of one generator and its lease. Make them with NewMetrics. All
// methods are safe for concurrent use. Do not make two Metrics with one namespace and one provider:
// both would write to the same series.
type Metrics struct{ registration metric.Registration }

// NewMetrics registers the instruments with the provider, whose readers collect them from then on.
// An invalid configuration is reported as one *core.ConfigError. Other errors are the provider's.
func NewMetrics(cfg MetricsConfig) (*Metrics, error) {
	source, err := metrics.Source{Generator: cfg.Generator, Lease: cfg.Lease, Namespace: cfg.Namespace}.Check("otel")
	if err != nil {
		return nil, err
	}
	provider := cfg.MeterProvider
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	meter := provider.Meter(scope)
	list := source.Metrics()
	var instruments []metric.Observable
	for _, m := range list {
		i, err := instrument(meter, m)
		if err != nil {
			return nil, err
		}
		instruments = append(instruments, i)
	}
	namespace := attribute.String(metrics.NamespaceKey, source.Namespace)
	attributes := metric.WithAttributeSet(attribute.NewSet(namespace))
	observed := instruments
	var state metric.Int64Observable
	var states []metric.MeasurementOption // of each of metrics.States
	if source.Lease != nil {
		if state, err = meter.Int64ObservableGauge(metrics.StateKey, metric.WithDescription(metrics.State().Help)); err != nil {
			return nil, err
		}
		observed = append(observed, state)
		for _, s := range metrics.States() {
			states = append(states, metric.WithAttributeSet(attribute.NewSet(namespace, attribute.String(metrics.StateKey, s))))
		}
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := source.Read(list, func(i int, value float64) {
			switch instrument := instruments[i].(type) {
			case metric.Int64Observable:
				o.ObserveInt64(instrument, int64(value), attributes)
			case metric.Float64Observable:
				o.ObserveFloat64(instrument, value, attributes)
			}
		})
		for i, option := range states {
			var value int64
			if metrics.States()[i] == now {
				value = 1
			}
			o.ObserveInt64(state, value, option)
		}
		return nil
	}, observed...)
	if err != nil {
		return nil, err
	}
	return &Metrics{registration}, nil
}

// instrument makes the asynchronous instrument of a metric.
func instrument(meter metric.Meter, m metrics.Metric) (metric.Observable, error) {
	about, unit := metric.WithDescription(m.Help), metric.WithUnit(m.Unit)
	switch {
	case m.Counter:
		return meter.Int64ObservableCounter(m.Name, about, unit)
	case m.Whole:
		return meter.Int64ObservableGauge(m.Name, about, unit)
	}
	return meter.Float64ObservableGauge(m.Name, about, unit)
}

// Close unregisters the instruments, for a program that continues without the generator. It may be
// called more than once, and on nil. The error is the provider's.
func (m *Metrics) Close() error {
	if m == nil || m.registration == nil {
		return nil
	}
	return m.registration.Unregister()
}
