// Command serial gives payments serials that people can read, and invoices numbers
// without gaps, with GORM on an SQLite in a temporary file:
//
//	go run ./examples/serial
//
// The same with pgx on PostgreSQL, in tables named serial_…:
//
//	go run ./examples/serial -dsn postgres://user:password@host/database
//
// It also reads serials; it exits with 1 if one is wrong:
//
//	go run ./examples/serial PAY-20261121073045123-0817-0042-42
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
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

const help = `serial gives payments serials that people can read, and invoices numbers without gaps.

usage: go run ./examples/serial [-worker N] [-dsn DSN]
       go run ./examples/serial SERIAL...

  -dsn DSN     postgres://user:password@host/database: with pgx, in tables named serial_…
               (default: with GORM on an SQLite in a temporary file)
  -worker N    this process's worker number, 0 to 1023; two processes that write
               at the same time need two numbers (default 1)
  SERIAL...    payments' serials to be read; -- before one that begins with -
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// cli runs the command and gives its exit code.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("serial", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	opt := options{now: time.Now}
	flags.StringVar(&opt.dsn, "dsn", "", "")
	flags.Int64Var(&opt.worker, "worker", 1, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return 0
	case err == nil && flags.NArg() > 0 && flags.NFlag() > 0:
		err = errors.New("serials are read without options")
	}
	if err != nil {
		fmt.Fprintf(stderr, "serial: %v (-h shows the usage)\n", err)
		return 2
	}
	if flags.NArg() > 0 {
		return read(flags.Args(), stdout, stderr)
	}
	if err := run(ctx, opt, stdout); err != nil {
		fmt.Fprintf(stderr, "serial: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return 1
	}
	return 0
}

// read decodes serials.
func read(serials []string, stdout, stderr io.Writer) int {
	code := 0
	for _, text := range serials {
		id, err := payments.Decode(text)
		if err != nil {
			fmt.Fprintln(stderr, err)
			code = 1
			continue
		}
		parts, err := payments.Config().Layout.Decode(id)
		if err != nil {
			fmt.Fprintln(stderr, err)
			code = 1
			continue
		}
		fmt.Fprintf(stdout, "%s is id %d of %s, datacenter %d, worker %d, sequence %d\n", text, id,
			parts.Time.Format("2006-01-02 15:04:05.000 MST"), parts.Datacenter, parts.Worker, parts.Sequence)
	}
	return code
}

type options struct {
	worker int64
	dsn    string
	lossy  bool             // accept a server that may lose a commit, as a test's may
	now    func() time.Time // the clock that dates numbers
}

// run writes with GORM, or, with a dsn, with pgx.
func run(ctx context.Context, opt options, out io.Writer) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(opt.worker)})
	if err != nil {
		return err
	}
	defer gen.Close()
	if opt.dsn != "" {
		err = withPgx(ctx, gen, opt, out)
	} else {
		err = withGORM(ctx, gen, opt, out)
	}
	if err != nil {
		return err
	}
	return badInput(ctx, gen, out)
}

// badInput shows what becomes of a serial that somebody typed wrongly.
func badInput(ctx context.Context, gen *core.Generator, out io.Writer) error {
	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	good, err := payments.Encode(id)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nTyped wrongly:")
	n := len(good)
	for _, text := range []string{
		strings.ToLower(good), // another prefix
		good[:n-1],            // the last digit is missing
		good[:5] + good[6:7] + good[5:6] + good[7:], // two digits are swapped: 2206 for 2026
		good[:n-6] + "9" + good[n-5:],               // a wrong digit
		"PAY-20260230120000000-0001-0000-00",        // by hand
	} {
		if _, err := payments.Decode(text); err != nil {
			fmt.Fprintf(out, "  %v\n", err)
			continue
		}
		return fmt.Errorf("%q was accepted", text)
	}
	return nil
}
