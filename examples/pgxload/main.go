// Command pgxload loads a CSV of orders into PostgreSQL with pgx: orders and lines by COPY, in one
// transaction.
//
//	go run ./examples/pgxload -dsn postgres://user@host/database -in orders.csv
//
// The file may be larger than memory. It is read twice: the first pass checks it and counts the
// rows, the second sends them, under keys from one reservation. Two processes that load at the same
// time need two worker IDs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

type options struct {
	dsn    string
	method pgxtype.Method
	worker int64
}

func main() {
	var opt options
	in := flag.String("in", "", "CSV `file` of orders, one row per line; default: examples/data/orders.csv")
	flag.StringVar(&opt.dsn, "dsn", "", "postgres://user:password@host/database; default: PGHOST, PGUSER and so on")
	unnest := flag.Bool("unnest", false, "INSERT from arrays, for tables that COPY refuses")
	flag.Int64Var(&opt.worker, "worker", 1, "worker ID of this process, 0 to 1023")
	flag.Parse()
	if *unnest {
		opt.method = pgxtype.Unnest
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, data.At(*in), opt)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgxload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, file data.File, opt options) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(opt.worker)})
	if err != nil {
		return fmt.Errorf("-worker %d: %w", opt.worker, err)
	}
	defer gen.Close()
	rows := 0
	for o, err := range file.Orders() {
		if err != nil {
			return err // before the database is touched
		}
		rows += 1 + len(o.Lines)
	}
	ids := make([]int64, rows)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}

	pool, err := connect(ctx, opt.dsn)
	if err != nil {
		return fmt.Errorf("-dsn: %w", err) // pgx hides the password
	}
	defer pool.Close()
	began := time.Now()
	loaded, err := load(ctx, pool, file, ids, opt.method)
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Fprintf(out, "%s: %d orders, %d rows in one transaction, %v, %.0f rows/s\n", file.Name, loaded.Parents, loaded.Rows,
		took.Round(time.Millisecond), float64(loaded.Rows)/took.Seconds())
	return report(ctx, pool, out)
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
