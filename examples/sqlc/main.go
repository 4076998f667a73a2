// Command sqlc writes orders with their lines to PostgreSQL by the code that sqlc generates from
// schema.sql and query.sql: orders by a batch, lines by COPY, in one transaction. Then it reads
// them back, page by page.
//
//	go run ./examples/sqlc -dsn postgres://user@host/database
//
// sqlc.yaml makes every bigint an sqltype.ID. After a change of it or of the SQL,
// go generate ./examples/sqlc writes db again.
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
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

//go:embed schema.sql
var schema string

type options struct {
	dsn           string
	lossy         bool
	orders, lines int
}

func main() {
	var opt options
	flag.StringVar(&opt.dsn, "dsn", "", "postgres://user:password@host/database; default: PGHOST, PGUSER and so on")
	flag.BoolVar(&opt.lossy, "allow-data-loss", false, "accept a server that may lose a commit when it crashes: ids may then be made twice")
	flag.IntVar(&opt.orders, "orders", 1000, "orders to write")
	flag.IntVar(&opt.lines, "lines", 3, "lines of each order")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, opt)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sqlc:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, opt options) (err error) {
	if opt.orders < 1 || opt.lines < 0 {
		return fmt.Errorf("-orders %d -lines %d: want 1 or more orders, and no negative number of lines", opt.orders, opt.lines)
	}
	pool, err := connect(ctx, opt.dsn)
	if err != nil {
		return fmt.Errorf("-dsn: %w", err) // pgx hides the password
	}
	defer pool.Close()
	gen, err := pgxstore.Open(ctx, pool, sqlstore.Config{AllowDataLoss: opt.lossy, Lease: worker.Config{Namespace: "sqlc", ClaimWait: time.Minute}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }() // before the pool

	orders, err := draft(ctx, gen, opt)
	if err != nil {
		return err
	}
	copied, err := insert(ctx, pool, orders)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d orders by a batch, %d lines by COPY, in one transaction\n", len(orders), copied)
	return report(ctx, pool, gen, orders, out)
}

// connect creates the tables.
func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.AfterConnect = pgxtype.AfterConnect
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}
