// Command lease takes a worker number from a database, issues ids under it, shows
// who holds which number, and gives it back. Run it twice at the same time:
//
//	go run ./examples/lease -for 20s
//
// With -only both want the same number, and the second waits. End the first by
// Ctrl-C, and it has the number at once; by kill -9, and it takes it over when its time
// to live is over. Its ids begin behind the bound of the first either way:
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

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	var o options
	flag.StringVar(&o.file, "db", "lease.sqlite", "SQLite file; it is created")
	flag.DurationVar(&o.length, "for", 0, "how long to hold the number")
	flag.Int64Var(&o.only, "only", -1, "the only number that will do, 0 to 1023; -1: any")
	flag.DurationVar(&o.window, "window", 30*time.Second, "how far ahead the end of the ids' time is recorded")
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
	db, err := sql.Open("sqlite", "file:"+o.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		return err
	}
	cfg := worker.Config{Namespace: "example", FenceWindow: o.window}
	if o.only != -1 {
		if o.only < 0 {
			return fmt.Errorf("-only %d: want a number from 0 on, or -1 for any", o.only)
		}
		cfg.Preferred, cfg.RequirePreferred = &o.only, true
		cfg.MaxWait = 2 * time.Minute // for who holds it
	}
	lease, err := worker.Acquire(ctx, store, cfg)
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
	parts, err := gen.Layout().Decode(ids[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "number %d gives %d, from %s on\n", lease.Worker(), ids, parts.Time.Local().Format("15:04:05.000"))

	select {
	case <-time.After(o.length):
	case <-ctx.Done():
	}
	rows, err := store.List(context.WithoutCancel(ctx), "example")
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.ClaimID != "" {
			fmt.Fprintf(out, "number %d is held by %s, its ids end before %s\n", row.Worker, row.Owner, time.UnixMilli(row.Fence).Format(time.TimeOnly))
		}
	}
	return nil
}
