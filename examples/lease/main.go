// Command lease leases a worker ID from an SQLite file, makes ids, shows who holds which worker
// ID, and releases it. Start it twice at the same time:
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

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	file := flag.String("db", "lease.sqlite", "SQLite file; it is created")
	length := flag.Duration("for", 0, "how long to hold the worker ID")
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
	if err := data.Touch(file); err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{Lease: worker.Config{Namespace: "example"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }() // before the database

	ids := make([]int64, 3)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	fmt.Fprintf(out, "worker ID %d makes %d\n", gen.Worker(), ids)

	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		return err
	}
	holders, err := store.List(context.WithoutCancel(ctx), "example")
	if err != nil {
		return err
	}
	for _, h := range holders {
		if h.ClaimID != "" {
			fmt.Fprintf(out, "worker ID %d is held by %s, its ids end before %s\n", h.Worker, h.Owner, time.UnixMilli(h.Fence).Format(time.TimeOnly))
		}
	}
	return nil
}
