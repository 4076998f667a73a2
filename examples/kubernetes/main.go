// Command kubernetes is a service for a cluster: many pods of one image, without a configured
// worker ID. Each leases one from the PostgreSQL that they share. deployment.yaml and
// statefulset.yaml run it.
//
//	DATABASE_URL=postgres://user:password@localhost/shop go run ./examples/kubernetes
//	curl localhost:8080/ids?n=3
package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, log)
	stop()
	if err != nil {
		log.Error("ended", slog.Any("err", err))
		os.Exit(1)
	}
}

// run serves until ctx is done, and then releases the worker ID.
func run(ctx context.Context, log *slog.Logger) (err error) {
	dsn := os.Getenv("DATABASE_URL")
	if dsn == "" {
		return errors.New("DATABASE_URL is not set: worker IDs are leased from that database")
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer db.Close()

	cfg, err := config(log)
	if err != nil {
		return err
	}
	gen, err := sqlstore.Open(ctx, db, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }() // the worker ID is free at once

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(os.Getenv("ADDRESS"), ":8080"))
	if err != nil {
		return err
	}
	log.Info("serving", slog.String("address", listener.Addr().String()), slog.Int64("worker", gen.Worker()))
	server := &http.Server{Handler: routes(gen), ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Within terminationGracePeriodSeconds: 20 s for requests, and at most 8 s for the lease.
	finish, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return server.Shutdown(finish)
}

// config configures the lease. The ordinal of a StatefulSet is preferred and not required,
// because two pods have it while one that was deleted by force still runs.
func config(log *slog.Logger) (worker.Config, error) {
	cfg := worker.Config{Namespace: os.Getenv("SNOWKEY_NAMESPACE"), Owner: os.Getenv("POD_NAME"), Observer: core.LogTo(log)}
	if _, ok := os.LookupEnv("POD_INDEX"); !ok { // a Deployment
		return cfg, nil
	}
	n, err := worker.FromOrdinal(core.Layout{}, "POD_INDEX", "")
	if err != nil {
		return cfg, err
	}
	cfg.Preferred = &n
	return cfg, nil
}
