// Package snowotel exports the metrics of a generator and its lease, and traces of the lease's
// requests, to OpenTelemetry:
//
//	tracer := snowotel.NewTracer(snowotel.TracerConfig{Next: core.LogTo(logger)})
//	gen, err := sqlstore.Open(ctx, db, worker.Config{Observer: tracer})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(ctx)
//	_, err = snowotel.NewMetrics(snowotel.MetricsConfig{Generator: gen})
//	if err != nil {
//		return err
//	}
//
// The package imports only OpenTelemetry's API; your program chooses the SDK and its exporters. Close
// the generator before you shut the providers down, so that they get the span of the release and
// the last counts.
//
// # Guarantees
//
// Issuing ids takes no longer: the instruments are asynchronous, so each collection reads the values
// from the generator's Metrics. A collection makes no request to the lease's store and
// waits for none. The number of series does not grow: the only attributes are snowkey.namespace,
// and snowkey.lease.state with six values.
//
// OpenTelemetry's exporters for Prometheus, and Prometheus's own OTLP receiver, translate the names
// to those of package contrib/snowprom. So its alert rules and its dashboard work with this
// package too. docs/metrics.md in the repository lists the metrics.
package snowotel
