// Command partitions keeps a table of orders in partitions by the time in its
// ids: it makes those that are missing, fills in orders, shows which partitions a
// query reads, and drops what is too old:
//
//	go run ./examples/partitions
//	go run ./examples/partitions -db postgres://user@host/database -by week
//
// A second run on the same database continues with the existing rows and partitions. If another
// run makes a partition first, it reads the partitions again. It exits with 0, with 1 if its input
// is wrong, and with 2 if its arguments are.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends it at once
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	db, by       string
	keep, ahead  int
	worker, rows int64
}

const help = `partitions keeps a table of orders in partitions by the time in its ids.

usage: go run ./examples/partitions [-db DSN] [-by PERIOD] [-keep N] [-ahead N] [-rows N] [-worker N]

  -db DSN      postgres://user:password@host/database or mysql://user:password@host/database;
               postgres or mariadb starts a server of its own for the run (default: postgres).
               Its one table is snowkey_partitioned
  -by PERIOD   day, week or month (default: day)
  -keep N      periods before this one whose orders are kept, 1 to 1000 (default 5)
  -ahead N     periods after this one that are made ready, 1 to 1000, as far as the
               ids' times go, which is July 2080 (default 3)
  -rows N      orders that are added, 1 to 100000 (default 1000)
  -worker N    this process's worker number, 0 to 1023 (default 1)
`

// cli runs the command and gives its exit code. Errors are one line on stderr.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var opt options
	flags := flag.NewFlagSet("partitions", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opt.db, "db", "postgres", "")
	flags.StringVar(&opt.by, "by", "day", "")
	flags.IntVar(&opt.keep, "keep", 5, "")
	flags.IntVar(&opt.ahead, "ahead", 3, "")
	flags.Int64Var(&opt.rows, "rows", 1000, "")
	flags.Int64Var(&opt.worker, "worker", 1, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil:
		err = check(opt)
	}
	if err != nil {
		fmt.Fprintf(stderr, "partitions: %v (-h shows the usage)\n", err)
		return 2
	}
	out := &checkedWriter{w: stdout}
	if err = run(ctx, opt, out); err == nil {
		err = out.err
	}
	if err != nil {
		fmt.Fprintf(stderr, "partitions: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		return 1
	}
	return 0
}

// check finds what is wrong before a server is started or asked.
func check(opt options) error {
	for name, n := range map[string]int{"-keep": opt.keep, "-ahead": opt.ahead} {
		if n < 1 || n > 1000 {
			return fmt.Errorf("%s %d: want 1 to 1000", name, n)
		}
	}
	if opt.rows < 1 || opt.rows > 100_000 {
		return fmt.Errorf("-rows %d: want 1 to 100000", opt.rows)
	}
	if workers := core.Twitter().WorkerIDs(); opt.worker < 0 || opt.worker >= workers {
		return fmt.Errorf("-worker %d: want 0 to %d", opt.worker, workers-1)
	}
	if _, err := kind(opt.db); err != nil {
		return fmt.Errorf("-db %q: %w", redact(opt.db), err)
	}
	switch by := ddl.Period(opt.by); by {
	case ddl.Day, ddl.Week, ddl.Month:
		now := today().UTC()
		if _, err := (ddl.Partitioning{Dialect: ddl.MySQL, Table: table, By: by}).Bounds(now, ago(by, now, -opt.ahead)); err != nil {
			return fmt.Errorf("-ahead %d: %w", opt.ahead, err)
		}
		return nil
	}
	return fmt.Errorf("-by %q: want day, week or month", opt.by)
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
