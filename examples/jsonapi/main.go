// Command jsonapi is a small REST service over orders and their lines, as one
// writes them with net/http and GORM, with Snowflake keys that reach a browser
// unrounded:
//
//	go run ./examples/jsonapi
//	go run ./examples/jsonapi -db postgres://user:password@localhost/shop
//	curl -i localhost:8080/orders
//
// An order and its lines go in with one transaction, under keys that are known
// before; ids are strings in JSON, in paths and in queries; pages and times are
// ranges of ids. The process has its worker number from the same database, and
// gives it back when it ends. openapi.yaml describes the service, client/ has
// types for TypeScript, and / is a page that lists and adds orders.
//
// It exits with 0 after SIGINT or SIGTERM, with 1 if something failed, and with
// 2 if it was called wrongly.
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
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends it at once
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const help = `jsonapi is a REST service over orders, with a page to try it on.

usage: go run ./examples/jsonapi [-addr HOST:PORT] [-db DSN] [-allow-lossy] [-quiet]

  -addr HOST:PORT  where to listen (default localhost:8080); port 0 is any free one
  -db DSN          postgres://user:password@host/database, mysql://user:password@host/database,
                   a file that ends in .sqlite or .db, or :memory: (default jsonapi.sqlite);
                   its tables are jsonapi_… and those of the worker numbers, snow_worker…
  -allow-lossy     take a database whose settings may lose a committed write when its machine
                   crashes; ids may be issued twice after that
  -quiet           log no requests, only what fails
`

// cli runs the command and gives its exit code.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("jsonapi", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	addr := flags.String("addr", "localhost:8080", "")
	var cfg config
	flags.StringVar(&cfg.db, "db", "jsonapi.sqlite", "")
	flags.BoolVar(&cfg.allowLossy, "allow-lossy", false, "")
	quiet := flags.Bool("quiet", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		fmt.Fprintf(stderr, "jsonapi: %v (-h shows the usage)\n", err)
		return 2
	}
	level := slog.LevelInfo
	if *quiet {
		level = slog.LevelWarn
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	if err := run(ctx, *addr, cfg, log, stdout); err != nil {
		fmt.Fprintf(stderr, "jsonapi: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		return 1
	}
	return 0
}

// finish is how long requests may take that are being answered when the end comes.
const finish = 15 * time.Second

// run serves until ctx is done, and ends in this order: no new connections, the
// requests that are being answered, the generator, the worker number, the database.
func run(ctx context.Context, addr string, cfg config, log *slog.Logger, stdout io.Writer) (err error) {
	svc, err := newService(ctx, cfg, log)
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
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintf(stdout, "listening on http://%s, worker number %d, %s\n", listener.Addr(), svc.lease.Worker(), svc.name)

	select {
	case err = <-failed:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	if err = server.Shutdown(limit); err != nil {
		_ = server.Close() // what hangs is cut off: the number must be given back
		return fmt.Errorf("requests were cut off at the end: %w", err)
	}
	fmt.Fprintln(stdout, "stopped")
	return nil
}
