// Command pgxload loads a CSV of orders into PostgreSQL with pgx: orders and
// lines by COPY, in one transaction, under keys that are known before.
//
//	go run ./examples/pgxload
//	go run ./examples/pgxload -in orders.csv -dsn postgres://user@host/database
//
// The file may be larger than memory: it is read twice, and of its rows only the
// keys are held. Without -dsn a private PostgreSQL is started for the run, if its
// programs are installed.
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

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends it at once
	code := cli(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	in, dsn, method string
	worker          int64
}

const help = `pgxload loads orders with their lines into PostgreSQL, all in one transaction.

usage: go run ./examples/pgxload [-in FILE] [-dsn DSN] [-method copy|unnest] [-worker N]

  -in FILE     a CSV of orders, a row for each line (default: the one in examples/data)
  -dsn DSN     postgres://user:password@host/database (default: a private server,
               gone after the run); its tables are pgxload_orders and pgxload_lines
  -method M    copy (default), or unnest for tables that COPY refuses
  -worker N    this process's worker number, 0 to 1023; two processes that write
               at the same time need two numbers (default 1)
`

var methods = map[string]pgxtype.Method{"copy": pgxtype.Copy, "unnest": pgxtype.Unnest}

// cli runs the command and gives its exit code. Errors are one line on stderr.
func cli(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var opt options
	flags := flag.NewFlagSet("pgxload", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opt.in, "in", "", "")
	flags.StringVar(&opt.dsn, "dsn", "", "")
	flags.StringVar(&opt.method, "method", "copy", "")
	flags.Int64Var(&opt.worker, "worker", 1, "")
	err := flags.Parse(args)
	_, known := methods[opt.method]
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && !known:
		err = fmt.Errorf("-method %q: want copy or unnest", opt.method)
	}
	if err != nil {
		fmt.Fprintf(stderr, "pgxload: %v (-h shows the usage)\n", err)
		return 2
	}
	if err := run(ctx, opt, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "pgxload: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return 1
	}
	return 0
}

func run(ctx context.Context, opt options, stdout, stderr io.Writer) (err error) {
	in := input{name: "examples/data/orders.csv", open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Orders)), nil }}
	if opt.in != "" {
		in = input{name: opt.in, open: func() (io.ReadCloser, error) { return os.Open(opt.in) }}
	}
	gen, err := core.New(core.Config{Worker: core.Fixed(opt.worker)})
	if err != nil {
		return fmt.Errorf("-worker %d: %w", opt.worker, err)
	}
	defer gen.Close()

	// First pass: every row is checked, and counted.
	orders, lines, err := in.count()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d orders, %d lines\n", in.name, orders, lines)

	dsn, where := opt.dsn, "at the given address"
	if dsn == "" {
		server, stop, err := testserver.Run(testserver.KindPostgres)
		if err != nil {
			return fmt.Errorf("no -dsn is given, and a private server cannot be started: %w", err)
		}
		defer func() { err = errors.Join(err, stop()) }()
		dsn, where = server.DSN, "started for this run"
	}
	pool, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, schema); err != nil {
		return fmt.Errorf("creating the tables: %w", err)
	}

	// The keys of all rows, from one reservation.
	ids := make([]int64, orders+lines)
	if err := gen.Fill(ctx, ids); err != nil {
		return fmt.Errorf("reserving %d keys: %w", len(ids), err)
	}
	tick, finish := progress(stderr, orders)
	began := time.Now()
	loaded, err := load(ctx, pool, in, ids, methods[opt.method], tick)
	finish()
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Fprintf(stdout, "PostgreSQL %s: %d rows by %s in one transaction, %v, %.0f rows/s\n\n", where, loaded.Rows, opt.method,
		took.Round(time.Millisecond), float64(loaded.Rows)/took.Seconds())
	return report(ctx, pool, stdout)
}

// connect asks the server something, so that a wrong address is told at once.
func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("-dsn: %w", err) // pgx hides the password
	}
	config.AfterConnect = pgxtype.AfterConnect
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("-dsn: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("-dsn: %w", err)
	}
	return pool, nil
}

// longInput is the number of orders from which a bar is worth showing.
const longInput = 100_000

// progress shows a bar on stderr where that is a terminal and the input long.
func progress(stderr io.Writer, orders int) (tick func(done int64), finish func()) {
	f, ok := stderr.(*os.File)
	if !ok || orders < longInput || !term.IsTerminal(int(f.Fd())) {
		return func(int64) {}, func() {}
	}
	bar := progressbar.NewOptions(orders,
		progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription("orders"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	return func(done int64) { _ = bar.Set64(done) }, func() { _ = bar.Exit(); fmt.Fprintln(stderr) }
}
