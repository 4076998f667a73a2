// Command ent writes orders with their lines by way of entgo.io/ent, under keys that
// are known before the first row, and prints as JSON those of the last hours:
//
//	go run ./examples/ent
//	go run ./examples/ent -db shop.sqlite "Ada: tea, cup" "Bob: jam"
//
// schema is what ent's generator reads, db what it writes; after a change of the
// schema, go generate ./examples/ent writes db again.
//
// It exits with 0, with 1 if something failed, and with 2 if it was called wrongly.
package main

//go:generate go run entgo.io/ent/cmd/ent@v0.14.5 generate --target ./db ./schema

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends it at once
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const help = `ent writes orders with their lines, and prints those of the last hours as JSON.

usage: go run ./examples/ent [-db DSN] [-allow-lossy] [-last DURATION] [ORDER]...

  -db DSN         a file that ends in .sqlite, or postgres://user:password@host/database
                  (default: SQLite in memory); its tables are orders, lines and those of the
                  worker numbers, snow_worker…
  -allow-lossy    take a database whose settings may lose a committed write when its machine
                  crashes; ids may be issued twice after that
  -last DURATION  how far back the orders that are printed go (default 24h)
  ORDER           a customer and what was ordered (default: "Ada: tea, cup" "Bob: jam")
`

// cli runs the command and gives its exit code. Errors are one line on stderr.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ent", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dsn := flags.String("db", "", "")
	lossy := flags.Bool("allow-lossy", false, "")
	last := flags.Duration("last", 24*time.Hour, "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, help)
		return 0
	}
	var orders []newOrder
	if err == nil {
		orders, err = parse(flags.Args())
	}
	if now := time.Now(); err == nil {
		if _, _, e := core.Twitter().Range(now.Add(-*last), now); e != nil || *last <= 0 {
			err = fmt.Errorf("-last %v: want more than 0, and no more than back to %s", *last, core.Twitter().Epoch.Format(time.DateOnly))
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "ent: %v (-h shows the usage)\n", err)
		return 2
	}
	if err := run(ctx, *dsn, *lossy, *last, orders, stdout); err != nil {
		fmt.Fprintf(stderr, "ent: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		return 1
	}
	return 0
}

// parse reads orders such as "Ada: tea, cup".
func parse(args []string) ([]newOrder, error) {
	if len(args) == 0 {
		args = []string{"Ada: tea, cup", "Bob: jam"}
	}
	orders := make([]newOrder, len(args))
	for i, arg := range args {
		customer, list, _ := strings.Cut(arg, ":")
		orders[i].Customer = strings.TrimSpace(customer)
		for sku := range strings.SplitSeq(list, ",") {
			if sku = strings.TrimSpace(sku); sku == "" || orders[i].Customer == "" {
				return nil, fmt.Errorf("order %.60q: want a customer and what was ordered, as in %q", arg, "Ada: tea, cup")
			}
			orders[i].Lines = append(orders[i].Lines, newLine{SKU: sku})
		}
	}
	return orders, nil
}

func run(ctx context.Context, dsn string, lossy bool, last time.Duration, orders []newOrder, stdout io.Writer) (err error) {
	client, numbers, err := open(ctx, dsn, lossy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	lease, err := worker.Acquire(ctx, numbers, worker.Config{Namespace: "ent", MaxWait: time.Minute})
	if err != nil {
		return fmt.Errorf("claiming a worker number: %w", err)
	}
	defer func() { err = errors.Join(err, lease.Close()) }() // before the database is closed
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		return err
	}
	defer gen.Close()
	client.Use(keys(gen))

	if err := insert(ctx, client, gen, orders); err != nil {
		return err
	}
	// One row is as short as without Snowflake keys: the hook gives it its own.
	if err := client.Line.Create().SetOrderID(orders[0].ID).SetSku("a gift").Exec(ctx); err != nil {
		return fmt.Errorf("adding a line to order %d: %w", orders[0].ID, err)
	}
	now := time.Now()
	found, err := between(ctx, client, gen.Layout(), now.Add(-last), now.Add(time.Minute)) // ids may run ahead of the clock a little
	if err != nil {
		return err
	}
	enc := json.NewEncoder(stdout)
	for _, o := range found {
		if err := enc.Encode(o); err != nil {
			return err
		}
	}
	return nil
}
