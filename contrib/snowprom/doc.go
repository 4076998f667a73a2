// Package snowprom exports the metrics of a generator and its lease to Prometheus:
//
//	metrics, err := snowprom.New(snowprom.Config{Generator: gen})
//	if err != nil {
//		return err
//	}
//	prometheus.MustRegister(metrics)
//
// The generator is a *worker.Generator, or a *core.Generator, which has no lease.
//
// # Guarantees
//
// Issuing ids takes no longer: each scrape reads the values from the generator's Metrics. A
// scrape makes no request to the lease's store and waits for none.
//
// The number of series of a collector does not grow. The only labels are snowkey_namespace, and
// snowkey_lease_state with six values. The worker ID is the value of a gauge, because it may change.
//
// # Files
//
// The folder of this package has alert rules (alerts.yml) with tests for promtool (alerts_test.yml),
// and a Grafana dashboard (dashboard.json). They also work with package snowotel and an exporter for
// Prometheus, because the names are the same. docs/metrics.md in the repository lists the metrics
// and says what to do when an alert fires.
package snowprom
