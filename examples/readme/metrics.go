package readme

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-299c1d6b/snowkey/contrib/snowotel"
	"github.com/seed-299c1d6b/snowkey/contrib/snowprom"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func metricsHandler(gen *worker.Generator) (http.Handler, error) {
	metrics, err := snowprom.New(snowprom.Config{Generator: gen})
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), nil
}

func openTraced(ctx context.Context, db *sql.DB) (*worker.Generator, error) {
	tracer := snowotel.NewTracer(snowotel.TracerConfig{Next: core.LogTo(slog.Default())})
	gen, err := sqlstore.Open(ctx, db, worker.Config{Observer: tracer})
	if err != nil {
		return nil, err
	}
	_, err = snowotel.NewMetrics(snowotel.MetricsConfig{Generator: gen})
	return gen, err
}
