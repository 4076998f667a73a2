package snowprom

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
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
// namespace, register each collector with a label of its own, with prometheus.WrapRegistererWith.
// A collector may stay registered after its generator is closed: it then exports the last counts.
type Collector struct {
	metrics func() []core.Metric
	descs   map[string]described // by the metric's name
}

// described is a metric's description, and the keys of the labels that vary.
type described struct {
	desc *prometheus.Desc
	keys []string
}

var _ prometheus.Collector = (*Collector)(nil)

const namespaceKey = "snowkey.namespace"

// New returns a collector that is not registered yet. An invalid Config is reported as one
// *core.ConfigError.
func New(cfg Config) (*Collector, error) {
	var list []core.Metric
	wrong := &core.ConfigError{Package: "snowprom"}
	reject := func(field, value, reason string) {
		wrong.Fields = append(wrong.Fields, core.FieldError{Field: field, Value: value, Reason: reason})
	}
	if cfg.Generator == nil {
		reject("Generator", "nil", "is required")
	} else if list = cfg.Generator.Metrics(); len(list) == 0 {
		reject("Generator", "nil or zero", "must come from core.New or an Open")
	}
	if cfg.Namespace != "" {
		var config *core.ConfigError
		if errors.As(driver.CheckNamespace(cfg.Namespace), &config) {
			wrong.Fields = append(wrong.Fields, config.Fields...)
		}
		if len(list) > 0 {
			if own := list[0].Labels[namespaceKey]; own != "" && own != cfg.Namespace {
				reject("Namespace", "\""+cfg.Namespace+"\"", "must be the generator's, \""+own+"\", or empty")
			}
		}
	}
	if wrong.Fields != nil {
		return nil, wrong
	}
	c := &Collector{metrics: cfg.Generator.Metrics, descs: make(map[string]described, len(list))}
	for _, m := range list {
		if _, done := c.descs[m.Name]; done {
			continue
		}
		var d described
		var names []string
		for key := range m.Labels {
			if key != namespaceKey {
				d.keys = append(d.keys, key)
			}
		}
		slices.Sort(d.keys)
		for _, key := range d.keys {
			names = append(names, label(key))
		}
		namespace := cmp.Or(m.Labels[namespaceKey], cfg.Namespace, "default")
		d.desc = prometheus.NewDesc(name(m), m.Help, names, prometheus.Labels{label(namespaceKey): namespace})
		c.descs[m.Name] = d
	}
	return c, nil
}

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
	for _, d := range c.descs {
		out <- d.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	if c == nil || c.metrics == nil {
		return
	}
	for _, m := range c.metrics() {
		d, ok := c.descs[m.Name]
		if !ok { // a fence that the first grant did not have
			continue
		}
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		values := make([]string, len(d.keys))
		for i, key := range d.keys {
			values[i] = m.Labels[key]
		}
		out <- prometheus.MustNewConstMetric(d.desc, kind, m.Value, values...)
	}
}
