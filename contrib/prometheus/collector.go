package prometheus

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/metrics"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// Config configures a Collector. Generator or Lease is required; give both if the generator has a
// lease.
type Config struct {
	Generator *core.Generator // nil: only the metrics of the lease
	Lease     *worker.Lease   // nil: only the metrics of the generator
	Namespace string          // the label snowkey_namespace; zero: the lease's namespace, or "default" without a lease
}

// A Collector exports the metrics of one generator and its lease. Make it with New, and register
// it; the zero value and nil export nothing. All methods are safe for concurrent use.
//
// A registry accepts one collector for each namespace. If a program has several generators of one
// namespace, register each collector with a label of its own, with prometheus.WrapRegistererWith.
// A collector may stay registered after its generator is closed and its lease has ended: it then
// exports the last counts.
type Collector struct {
	source metrics.Source
	list   []metrics.Metric
	descs  []*prometheus.Desc // of list
	state  *prometheus.Desc   // nil: no lease
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector that is not registered yet. An invalid Config is reported as one
// *core.ConfigError.
func New(cfg Config) (*Collector, error) {
	source, err := metrics.Source{Generator: cfg.Generator, Lease: cfg.Lease, Namespace: cfg.Namespace}.Check("prometheus")
	if err != nil {
		return nil, err
	}
	c := &Collector{source: source, list: source.Metrics()}
	constant := prometheus.Labels{metrics.Label(metrics.NamespaceKey): source.Namespace}
	for _, m := range c.list {
		c.descs = append(c.descs, prometheus.NewDesc(m.Prometheus(), m.Help, nil, constant))
	}
	if source.Lease != nil {
		m := metrics.State()
		c.state = prometheus.NewDesc(m.Prometheus(), m.Help, []string{metrics.Label(metrics.StateKey)}, constant)
	}
	return c, nil
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	if c == nil {
		return
	}
	for _, d := range c.descs {
		out <- d
	}
	if c.state != nil {
		out <- c.state
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	if c == nil {
		return
	}
	now := c.source.Read(c.list, func(i int, value float64) {
		kind := prometheus.GaugeValue
		if c.list[i].Counter {
			kind = prometheus.CounterValue
		}
		out <- prometheus.MustNewConstMetric(c.descs[i], kind, value)
	})
	if c.state == nil {
		return
	}
	for _, state := range metrics.States() {
		value := 0.0
		if state == now {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, value, state)
	}
}
