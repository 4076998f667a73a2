package snowprom

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Config configures a Collector. Generator is required.
type Config struct {
	Generator interface{ Metrics() []core.Metric } // a *worker.Generator or a *core.Generator
	Namespace string                               // the label snowkey_namespace of a *core.Generator; zero: "default". A *worker.Generator has its own.
}

// A Collector exports the metrics of one generator and its lease. Make it with New, and register
// it; the zero value and nil export nothing. All methods are safe for concurrent use.
//
// A registry accepts one collector for each namespace. If a program has several generators of one
// namespace, register each collector with a separate label, by prometheus.WrapRegistererWith.
// A collector may stay registered after its generator is closed: it then exports the last counts.
type Collector struct {
	metrics func() []core.Metric
	descs   map[string]*prometheus.Desc // by series
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector that is not registered yet. The error for a Generator that is missing or
// has no metrics is a *core.ConfigError.
func New(cfg Config) (*Collector, error) {
	c := &Collector{descs: map[string]*prometheus.Desc{}}
	if cfg.Generator != nil {
		c.metrics = cfg.Generator.Metrics
		for _, m := range c.metrics() {
			labels := prometheus.Labels{"snowkey_namespace": cmp.Or(cfg.Namespace, "default")}
			for key, value := range m.Labels {
				labels[label(key)] = value
			}
			c.descs[series(m)] = prometheus.NewDesc(name(m), m.Help, nil, labels)
		}
	}
	if len(c.descs) == 0 {
		return nil, &core.ConfigError{Package: "snowprom", Fields: []core.FieldError{
			{Field: "Generator", Value: "nil or zero", Reason: "must come from core.New or an Open"}}}
	}
	return c, nil
}

// series identifies one series of the collector.
func series(m core.Metric) string { return fmt.Sprint(m.Name, m.Labels) }

// name returns the metric's name by the conventions of Prometheus: the name that the exporters of
// OpenTelemetry make of it.
func name(m core.Metric) string {
	name := label(m.Name)
	if m.Unit == "s" {
		name += "_seconds"
	}
	if m.Counter {
		name += "_total"
	}
	return name
}

// label returns the label that Prometheus has for a key.
func label(key string) string { return strings.ReplaceAll(key, ".", "_") }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	if c == nil {
		return
	}
	for _, desc := range c.descs {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	if c == nil || c.metrics == nil {
		return
	}
	for _, m := range c.metrics() {
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		if desc := c.descs[series(m)]; desc != nil { // nil for a fence that the first grant did not have
			out <- prometheus.MustNewConstMetric(desc, kind, m.Value)
		}
	}
}
