// Command serial gives payments serial numbers that people can read, and invoices numbers without
// gaps, with GORM on a temporary SQLite file:
//
//	go run ./examples/serial
//
// The invoices with pgx on PostgreSQL, in a table named serial_invoices:
//
//	go run ./examples/serial -dsn postgres://user:password@host/database
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

type options struct {
	dsn   string
	lossy bool             // accept a server that may lose a commit, as a test's may
	now   func() time.Time // the clock that dates numbers
}

func main() {
	opt := options{now: time.Now}
	flag.StringVar(&opt.dsn, "dsn", "", "postgres://user:password@host/database; default: a temporary SQLite file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, opt)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serial:", err)
		os.Exit(1)
	}
}

// run writes with GORM, or, with a DSN, with pgx.
func run(ctx context.Context, out io.Writer, opt options) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // or a lease, where several processes write
	if err != nil {
		return err
	}
	defer gen.Close()
	if opt.dsn != "" {
		return withPgx(ctx, gen, opt, out)
	}
	return withGORM(ctx, gen, opt, out)
}

func written(err error) string {
	if err != nil {
		return "rolled back, " + err.Error()
	}
	return "written"
}
