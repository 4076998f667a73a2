// Command lease leases a worker ID from an SQLite file, makes ids, shows who holds which worker
// ID, and releases it. Start it twice at the same time:
//
//	go run ./examples/lease -for 20s
//
// With -only both want the same worker ID, and the second waits. Stop the first with Ctrl-C, and
// the second has it at once. Kill it with kill -9, and the second has it when the lease expires.
// Its ids begin at the fence of the first either way:
//
//	go run ./examples/lease -only 7 -window 6s -for 1m
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
	var o options
	flag.StringVar(&o.file, "db", "lease.sqlite", "SQLite file; it is created")
	flag.DurationVar(&o.length, "for", 0, "how long to hold the worker ID")
	flag.Int64Var(&o.only, "only", -1, "the required worker ID, 0 to 1023; -1: any")
	flag.DurationVar(&o.window, "window", 30*time.Second, "how far ahead of the clock the fence is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lease:", err)
		os.Exit(1)
	}
}

type options struct {
	file           string
	length, window time.Duration
	only           int64
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	if err := data.Touch(o.file); err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	db, err := sql.Open("sqlite", o.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	cfg := worker.Config{Namespace: "example", FenceWindow: o.window}
	if o.only != -1 {
		if o.only < 0 {
			return fmt.Errorf("-only %d: want a worker ID from 0 on, or -1 for any", o.only)
		}
		cfg.Preferred, cfg.RequirePreferred = &o.only, true
		cfg.ClaimWait = 2 * time.Minute // for its holder
	}
	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{Lease: cfg})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }() // before the database

	ids := make([]int64, 3)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	parts, err := gen.Layout().Decode(ids[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "worker ID %d makes %d, from %s on\n", gen.Worker(), ids, parts.Time.Local().Format("15:04:05.000"))

	select {
	case <-time.After(o.length):
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
