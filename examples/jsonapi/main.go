// Command jsonapi is a small REST service over orders and their lines, with net/http and GORM. Its
// Snowflake keys reach a browser unrounded:
//
//	go run ./examples/jsonapi
//	go run ./examples/jsonapi -db postgres://user:password@localhost/shop
//	curl -i localhost:8080/orders
//
// An order and its lines are written in one transaction, under keys that are known before. In JSON,
// in paths and in queries a key has the kind of its row in front, as ord_1qda147xjq4ad. A key of
// another kind is refused, and in Go and TypeScript it does not compile. Pages and times are ranges
// of ids.
//
// The process leases its worker ID from the same database, and releases it when it ends.
// openapi.yaml describes the service, and client/ has types for TypeScript.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "`host:port` to listen on; port 0 is any free one")
	db := flag.String("db", "jsonapi.sqlite", "postgres://…, or a `file` of SQLite")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *addr, *db, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "jsonapi:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done. It ends in this order: the listener, the requests, the generator
// and its worker ID, the database.
func run(ctx context.Context, addr, dsn string, stdout io.Writer) (err error) {
	svc, err := newService(ctx, dsn, slog.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.close()) }()

	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("-addr %q: %w", addr, err)
	}
	server := &http.Server{
		Handler:           svc.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      20 * time.Second,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintf(stdout, "listening on http://%s, worker ID %d\n", listener.Addr(), svc.gen.Worker())

	select {
	case err = <-failed:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second) // for requests that are under way
	defer cancel()
	if err = server.Shutdown(limit); err != nil {
		_ = server.Close() // cuts off what hangs, so that the worker ID is released
		return fmt.Errorf("requests were cut off at the end: %w", err)
	}
	fmt.Fprintln(stdout, "stopped")
	return nil
}
