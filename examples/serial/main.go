// Command serial gives payments serial numbers that people can read, and invoices numbers without
// gaps, with GORM on a temporary SQLite file:
//
//	go run ./examples/serial
//
// The same with pgx on PostgreSQL, in tables named serial_…:
//
//	go run ./examples/serial -dsn postgres://user:password@host/database
//
// It also reads serial numbers:
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

type options struct {
	worker int64
	dsn    string
	lossy  bool             // accept a server that may lose a commit, as a test's may
	now    func() time.Time // the clock that dates numbers
}

func main() {
	opt := options{now: time.Now}
	flag.StringVar(&opt.dsn, "dsn", "", "postgres://user:password@host/database; default: a temporary SQLite file")
	flag.Int64Var(&opt.worker, "worker", 1, "worker ID of this process, 0 to 1023")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	if flag.NArg() > 0 {
		err = read(os.Stdout, flag.Args())
	} else {
		err = run(ctx, os.Stdout, opt)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serial:", err)
		os.Exit(1)
	}
}

// read decodes serial numbers.
func read(out io.Writer, serials []string) (err error) {
	for _, text := range serials {
		id, errDecode := payments.Decode(text)
		if errDecode != nil {
			err = errors.Join(err, errDecode)
			continue
		}
		parts, errParts := payments.Config().Layout.Decode(id)
		err = errors.Join(err, errParts)
		fmt.Fprintf(out, "%s is id %d of %s, datacenter %d, worker %d, sequence %d\n", text, id,
			parts.Time.Format("2006-01-02 15:04:05.000 MST"), parts.Datacenter, parts.Worker, parts.Sequence)
	}
	return err
}

// run writes with GORM, or, with a DSN, with pgx.
func run(ctx context.Context, out io.Writer, opt options) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(opt.worker)})
	if err != nil {
		return fmt.Errorf("-worker %d: %w", opt.worker, err)
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

	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	good, err := payments.Encode(id)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nMistyped:")
	n := len(good)
	for _, text := range []string{
		strings.ToLower(good), // another prefix
		good[:n-1],            // the last digit is missing
		good[:5] + good[6:7] + good[5:6] + good[7:], // two digits are swapped: 2206 for 2026
		good[:n-6] + "9" + good[n-5:],               // a wrong digit
		"PAY-20260230120000000-0001-0000-00",        // made up
	} {
		_, err := payments.Decode(text)
		fmt.Fprintf(out, "  %v\n", err)
	}
	return nil
}
