// Command lease takes a worker number from a database, issues ids under it, shows
// who holds which number, and gives it back. Run it twice at the same time.
//
//	go run ./examples/lease -for 20s
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	_ "github.com/glebarez/go-sqlite" // or the driver of your database

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	file := flag.String("db", "lease.sqlite", "SQLite file; it is created")
	length := flag.Duration("for", 0, "how long to hold the number")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *file, *length)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lease:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, file string, length time.Duration) (err error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	store := sqlstore.New(db, sqlstore.Config{})
	lease, err := worker.Acquire(ctx, store, worker.Config{Space: "example"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Close()) }() // before the database is closed
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		return err
	}
	defer gen.Close()

	ids := make([]int64, 3)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	fmt.Fprintf(out, "number %d gives %d\n", lease.Worker(), ids)

	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
	rows, err := store.List(context.WithoutCancel(ctx), "example")
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Token != "" {
			fmt.Fprintf(out, "number %d is held by %s, its ids end before %s\n", row.Worker, row.Owner, time.UnixMilli(row.Until).Format(time.TimeOnly))
		}
	}
	return nil
}
