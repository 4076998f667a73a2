// Command quickstart loads orders with their lines into a database, every row
// under a Snowflake key that is known before the row is written:
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -in orders.csv -db postgres://user@host/database
//
// It exits with 0, with 1 if something is wrong with what it was given, and
// with 2 if it was called wrongly.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends it at once
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr, sqlstore.Config{Table: "quickstart_worker"})
	stop()
	os.Exit(code)
}

type options struct {
	in, db string
	leases sqlstore.Config
}

const help = `quickstart loads orders with their lines into a database, each row under a Snowflake key.

usage: go run ./examples/quickstart [-in FILE] [-db DSN]

  -in FILE    a CSV of orders, a row for each line (default: the one in examples/data)
  -db DSN     postgres://user:password@host/database, mysql://user:password@host/database,
              or FILE.sqlite (default: SQLite in memory); its tables are named quickstart_…

It leases its worker ID from that database, so any number of them may run at once.
`

// cli runs the command and gives its exit code. Errors are one line on stderr.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer, leases sqlstore.Config) int {
	opt := options{leases: leases}
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opt.in, "in", "", "")
	flags.StringVar(&opt.db, "db", "", "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		fmt.Fprintf(stderr, "quickstart: %v (-h shows the usage)\n", err)
		return 2
	}
	out := &checkedWriter{w: stdout}
	if err := run(ctx, opt, out, stderr); err != nil {
		fmt.Fprintf(stderr, "quickstart: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return 1
	}
	if out.err != nil {
		fmt.Fprintf(stderr, "quickstart: the load is done, but not all of its report could be written: %v\n", out.err)
		return 1
	}
	return 0
}

// checkedWriter keeps the first error, so that lost output is no success.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	var n int
	n, c.err = c.w.Write(p)
	return n, c.err
}

func run(ctx context.Context, opt options, stdout, stderr io.Writer) (err error) {
	// All that can be wrong with what was given is found before the database
	// is touched.
	in, name, err := readInput(opt.in)
	if err != nil {
		return err
	}
	sent := countStatements()
	db, dbName, err := open(ctx, opt.db, sent)
	if err != nil {
		return err
	}
	if pool, err := db.DB(); err == nil {
		defer pool.Close()
	}
	if opt.db == "" {
		opt.leases.AllowDataLoss = true // in memory all ends with the process, the rows and the leases
	}
	gen, err := gormplugin.Open(ctx, db, gormplugin.OpenConfig{
		Plugin: gormplugin.Config{Models: []any{Customer{}, Order{}, OrderLine{}}},
		Store:  opt.leases,
	})
	if err != nil {
		return fmt.Errorf("-db %q: %w", redact(opt.db), err)
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }() // ctx may be done by then
	if err := db.WithContext(ctx).AutoMigrate(&Customer{}, &Order{}, &OrderLine{}); err != nil {
		return fmt.Errorf("-db %q: creating the tables: %w", redact(opt.db), oneLine(err))
	}

	fmt.Fprintf(stdout, "%s: %d orders, %d lines\n%s, worker %d\n\n", name, len(in.orders), in.lines, dbName, gen.Lease().Worker())
	tick, finish := progress(stderr, len(in.orders))
	res, err := load(ctx, db, gen, in, sent, tick)
	finish()
	if err != nil {
		return err
	}
	if err := report(db.WithContext(ctx), gen.Lease().Layout(), stdout); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nWritten: %d customers, %d orders, %d lines", res.customers, res.orders, res.lines)
	if rows := res.customers + res.orders + res.lines; rows > 0 {
		fmt.Fprintf(stdout, " in %v: %.0f rows/s, %d statements, %.0f statements/s", res.took.Round(time.Millisecond),
			float64(rows)/res.took.Seconds(), res.statements, float64(res.statements)/res.took.Seconds())
	}
	fmt.Fprintln(stdout)
	if res.skipped > 0 {
		fmt.Fprintf(stdout, "Skipped: %d orders that were there already\n", res.skipped)
	}
	return nil
}

func readInput(path string) (*input, string, error) {
	if path == "" {
		in, err := read("examples/data/orders.csv", bytes.NewReader(data.Orders))
		return in, "examples/data/orders.csv", err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", fmt.Errorf("-in %s: %w", path, bare(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, "", fmt.Errorf("-in %s: is a directory", path)
	}
	in, err := read(path, f)
	return in, path, err
}

// longInput is the number of orders from which a bar is worth showing.
const longInput = 1000

// progress shows a bar on stderr where that is a terminal and the input long.
func progress(stderr io.Writer, orders int) (tick func(done int), finish func()) {
	f, ok := stderr.(*os.File)
	if !ok || orders < longInput || !term.IsTerminal(int(f.Fd())) {
		return func(int) {}, func() {}
	}
	bar := progressbar.NewOptions(orders,
		progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription("orders"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	return func(done int) { _ = bar.Set(done) }, func() { _ = bar.Exit(); fmt.Fprintln(stderr) }
}
