package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	snowprom "github.com/seed-299c1d6b/snowkey/observe/prometheus"
)

// operations has what operators ask for, on an address that clients do not reach.
func (s *service) operations() (http.Handler, error) {
	metrics, err := snowprom.New(snowprom.Config{Generator: s.gen})
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {}) // the process answers
	mux.Handle("GET /readyz", s.answer(s.ready))
	return mux, nil
}

// ready says whether orders can be added: there are ids, and the database answers.
func (s *service) ready(w http.ResponseWriter, r *http.Request) error {
	if s.gen.Stats().Left == 0 {
		return unavailable("there are no ids at the moment")
	}
	return s.health(w, r)
}

// serveOperations serves them until stop is called.
func (s *service) serveOperations(ctx context.Context, addr string) (at string, stop func(), err error) {
	handler, err := s.operations()
	if err != nil {
		return "", nil, err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 20 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}

// telemetry sends spans and metrics to the collector of OpenTelemetry that the environment names.
// Without one there are none. stop sends what is left.
func telemetry(ctx context.Context) (stop func(context.Context) error, err error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return func(context.Context) error { return nil }, nil
	}
	spans, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	metrics, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, err
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)))
	otel.SetTracerProvider(tracers)
	otel.SetMeterProvider(meters)
	return func(ctx context.Context) error { return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx)) }, nil
}
