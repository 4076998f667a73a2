package snowotel

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed-299c1d6b/snowkey/core"
)

const scope = "github.com/seed-299c1d6b/snowkey/contrib/snowotel"

// MetricsConfig configures Metrics. Generator is required.
type MetricsConfig struct {
	Generator     interface{ Metrics() []core.Metric } // a *worker.Generator or a *core.Generator
	Namespace     string                               // the attribute snowkey.namespace of a *core.Generator; zero: "default". A *worker.Generator has its own.
	MeterProvider metric.MeterProvider                 // nil: the global one
}

// Metrics are the instruments of one generator and its lease. Make them with NewMetrics. All
// methods are safe for concurrent use. Do not make two Metrics with one namespace and one provider:
// both would write to the same series.
type Metrics struct{ registration metric.Registration }

const namespaceKey = "snowkey.namespace"

// NewMetrics registers the instruments with the provider, whose readers collect them from then on.
// The error for a Generator that is missing or has no metrics is a *core.ConfigError. Other errors are
// the provider's.
func NewMetrics(cfg MetricsConfig) (*Metrics, error) {
	var list []core.Metric
	if cfg.Generator != nil {
		list = cfg.Generator.Metrics()
	}
	if len(list) == 0 {
		return nil, &core.ConfigError{Package: "snowotel", Fields: []core.FieldError{
			{Field: "Generator", Value: "nil or zero", Reason: "must come from core.New or an Open"}}}
	}
	provider := cfg.MeterProvider
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	meter := provider.Meter(scope)
	instruments := make(map[string]metric.Observable, len(list))
	var all []metric.Observable
	for _, m := range list {
		if instruments[m.Name] != nil { // another state of the lease
			continue
		}
		i, err := instrument(meter, m)
		if err != nil {
			return nil, err
		}
		instruments[m.Name] = i
		all = append(all, i)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, m := range cfg.Generator.Metrics() {
			attributes := []attribute.KeyValue{attribute.String(namespaceKey, cmp.Or(cfg.Namespace, "default"))}
			for key, value := range m.Labels { // the last value of a key counts
				attributes = append(attributes, attribute.String(key, value))
			}
			option := metric.WithAttributes(attributes...)
			switch instrument := instruments[m.Name].(type) { // none for a fence that the first grant did not have
			case metric.Int64Observable:
				o.ObserveInt64(instrument, int64(m.Value), option)
			case metric.Float64Observable:
				o.ObserveFloat64(instrument, m.Value, option)
			}
		}
		return nil
	}, all...)
	if err != nil {
		return nil, err
	}
	return &Metrics{registration}, nil
}

// instrument makes the asynchronous instrument of a metric.
func instrument(meter metric.Meter, m core.Metric) (metric.Observable, error) {
	about, unit := metric.WithDescription(m.Help), metric.WithUnit(m.Unit)
	switch {
	case m.Counter:
		return meter.Int64ObservableCounter(m.Name, about, unit)
	case m.Unit == "s":
		return meter.Float64ObservableGauge(m.Name, about, unit)
	}
	return meter.Int64ObservableGauge(m.Name, about, unit)
}

// Close unregisters the instruments, for a program that continues without the generator. It may be
// called more than once, and on nil. The error is the provider's.
func (m *Metrics) Close() error {
	if m == nil || m.registration == nil {
		return nil
	}
	return m.registration.Unregister()
}
