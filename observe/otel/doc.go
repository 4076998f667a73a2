// Package otel exports the metrics of a generator and its lease, and traces of the lease's
// requests, to OpenTelemetry. The name is also that of OpenTelemetry's package, so a file that
// needs both imports this one as snowotel:
//
//	tracer := snowotel.NewTracer(snowotel.TracerConfig{Next: core.LogTo(logger)})
//	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{Lease: worker.Config{Observer: tracer}})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(ctx)
//	_, err = snowotel.NewMetrics(snowotel.MetricsConfig{Generator: gen.Generator(), Lease: gen.Lease()})
//	if err != nil {
//		return err
//	}
//
// It needs the API of OpenTelemetry only. The program chooses the SDK and its exporters. It shuts
// the providers down after it has closed the generator, so that they get the span of the release
// and the last counts.
//
// # Guarantees
//
// Issuing ids costs nothing more: the instruments are asynchronous, so the values are read at each
// collection, from Generator.Stats and Lease.Stats. A collection makes no request to the lease's
// store and waits for none. The number of series does not grow: the only attributes are
// snowkey.namespace, and snowkey.lease.state with six values.
//
// The exporters for Prometheus, and Prometheus's own receiver of OTLP, make of the names those of
// package observe/prometheus, so that its alert rules and its dashboard work here too. The
// repository's docs/metrics.md lists the metrics.
package otel
