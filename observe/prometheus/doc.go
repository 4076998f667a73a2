// Package prometheus exports the metrics of a generator and its lease to Prometheus. The name
// is also that of client_golang's package, so import it as snowprom:
//
//	import (
//		"github.com/prometheus/client_golang/prometheus"
//		snowprom "github.com/seed-299c1d6b/snowkey/observe/prometheus"
//	)
//
//	metrics, err := snowprom.New(snowprom.Config{Generator: gen, Lease: lease})
//	if err != nil {
//		return err
//	}
//	prometheus.MustRegister(metrics)
//
// The generator that sqlstore.Open, pgxstore.Open or gormplugin.Open returns has both:
// gen.Generator() and gen.Lease().
//
// # Guarantees
//
// Issuing ids costs nothing more: the values are read at each scrape, from Generator.Stats and
// Lease.Stats, and nothing is counted twice. A scrape makes no request to the lease's store and
// waits for none.
//
// The number of series of a collector does not grow. The only labels are snowkey_namespace, and
// snowkey_lease_state with six values. The worker ID is the value of a gauge, because it may change.
//
// # Files
//
// The folder has alert rules (alerts.yml) with tests for promtool (alerts_test.yml), and a Grafana
// dashboard (dashboard.json). They need this package or package otel with an exporter for
// Prometheus: the names are the same. The repository's docs/metrics.md lists the metrics and says
// what to do when an alert fires.
package prometheus
