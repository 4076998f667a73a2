// Command sqlc writes orders with their lines to PostgreSQL by the code that sqlc made
// of schema.sql and query.sql, under keys that are known before the first row: orders by
// a batch, lines by COPY, in one transaction. Then it reads them back, page by page.
//
//	go run ./examples/sqlc
//	go run ./examples/sqlc -dsn postgres://user@host/database -orders 5000
//
// sqlc.yaml makes every bigint an sqltype.ID; after a change of it or of the SQL, go
// generate ./examples/sqlc writes db again. Without -dsn a private PostgreSQL is started
// for the run, if its programs are installed.
//
// It exits with 0, with 1 if something failed, and with 2 if it was called wrongly.
package main

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate

import (
	"context"
	_ "embed" // for go:embed
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

//go:embed schema.sql
var schema string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends it at once
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	dsn           string
	lossy         bool
	orders, lines int
}

const help = `sqlc writes orders with their lines to PostgreSQL, and reads them back.

usage: go run ./examples/sqlc [-dsn DSN] [-allow-lossy] [-orders N] [-lines N]

  -dsn DSN      postgres://user:password@host/database (default: a private server, gone
                after the run); its tables are orders, lines and those of the worker
                numbers, snow_worker…
  -allow-lossy  take a server whose settings may lose a committed write when its machine
                crashes; ids may be issued twice after that
  -orders N     how many orders are written, 1 to 100000 (default 1000)
  -lines N      how many lines each has, 0 to 10 (default 3)
`

// cli runs the command and gives its exit code. Errors are one line on stderr.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var opt options
	flags := flag.NewFlagSet("sqlc", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opt.dsn, "dsn", "", "")
	flags.BoolVar(&opt.lossy, "allow-lossy", false, "")
	flags.IntVar(&opt.orders, "orders", 1000, "")
	flags.IntVar(&opt.lines, "lines", 3, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return 0
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case opt.orders < 1 || opt.orders > 100_000:
		err = fmt.Errorf("-orders %d: want 1 to 100000", opt.orders)
	case opt.lines < 0 || opt.lines > 10:
		err = fmt.Errorf("-lines %d: want 0 to 10", opt.lines)
	}
	if err != nil {
		fmt.Fprintf(stderr, "sqlc: %v (-h shows the usage)\n", err)
		return 2
	}
	if err := run(ctx, opt, stdout); err != nil {
		fmt.Fprintf(stderr, "sqlc: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		return 1
	}
	return 0
}

func run(ctx context.Context, opt options, stdout io.Writer) (err error) {
	dsn, where := opt.dsn, "at the given address"
	if dsn == "" {
		server, stop, err := testserver.Run(testserver.KindPostgres)
		if err != nil {
			return fmt.Errorf("no -dsn is given, and a private server cannot be started: %w", err)
		}
		defer func() { err = errors.Join(err, stop()) }()
		dsn, where, opt.lossy = server.DSN, "started for this run", true // its numbers go with it
	}
	pool, err := connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("-dsn: %w", err)
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, schema); err != nil {
		return fmt.Errorf("creating the tables: %w", err)
	}
	numbers := stdlib.OpenDBFromPool(pool)
	defer numbers.Close() // the pool stays open
	store, err := sqlstore.New(numbers, sqlstore.Config{AllowDataLoss: opt.lossy})
	if err != nil {
		return err
	}
	lease, err := worker.Acquire(ctx, store, worker.Config{Namespace: "sqlc", MaxWait: time.Minute})
	if err != nil {
		return fmt.Errorf("claiming a worker number: %w", err)
	}
	defer func() { err = errors.Join(err, lease.Close()) }() // before the database is closed
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		return err
	}
	defer gen.Close()

	orders, err := draft(ctx, gen, opt)
	if err != nil {
		return err
	}
	copied, err := insert(ctx, pool, orders)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "PostgreSQL %s: %d orders by a batch, %d lines by COPY, in one transaction\n", where, len(orders), copied)
	return report(ctx, pool, gen, orders, stdout)
}

// connect asks the server something, so that a wrong address is told at once.
func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err // pgx hides the password
	}
	config.AfterConnect = pgxtype.AfterConnect
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}
