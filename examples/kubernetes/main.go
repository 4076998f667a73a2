// Command kubernetes is a service as it runs in a cluster: many pods of one image,
// none of which is told a worker number. Each takes one from the PostgreSQL that
// they have in common. deployment.yaml and statefulset.yaml beside it run it.
//
//	DATABASE_URL=postgres://user:password@localhost/shop go run ./examples/kubernetes
//	curl localhost:8080/ids?n=3
package main

import (
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
	err := run(ctx, log, sqlstore.Config{})
	stop()
	if err != nil {
		log.Error("ended", slog.Any("err", err))
		os.Exit(1)
	}
}

// run serves until ctx is done, and then gives the number back.
func run(ctx context.Context, log *slog.Logger, store sqlstore.Config) (err error) {
	dsn := os.Getenv("DATABASE_URL")
	if dsn == "" {
		return errors.New("DATABASE_URL is not set: the numbers come from that database")
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
	leases, err := sqlstore.New(db, store)
	if err != nil {
		return err
	}
	lease, err := worker.Acquire(ctx, leases, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Close()) }() // the number is free at once
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		return err
	}
	defer gen.Close()

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address())
	if err != nil {
		return err
	}
	log.Info("serving", slog.String("address", listener.Addr().String()), slog.Int64("worker", lease.Worker()))
	server := &http.Server{Handler: routes(gen, lease), ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Within terminationGracePeriodSeconds: 20 s for requests, and 5 s for the lease.
	finish, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return server.Shutdown(finish)
}

// config makes the lease's configuration. A StatefulSet tells the pod's ordinal, and
// it is only a wish: while a pod that was deleted by force is still there, two have it.
func config(log *slog.Logger) (worker.Config, error) {
	cfg := worker.Config{Namespace: os.Getenv("SNOWKEY_SPACE"), Owner: os.Getenv("POD_NAME"), Observer: core.LogTo(log)}
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

func address() string {
	if a := os.Getenv("ADDRESS"); a != "" {
		return a
	}
	return ":8080"
}
