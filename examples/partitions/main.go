// Command partitions keeps a table of orders in partitions by the time in its ids: it creates
// those that are missing, adds orders, shows which partitions a query reads, and drops what is too
// old.
//
//	go run ./examples/partitions -db postgres://user:password@host/database
//	go run ./examples/partitions -db 'user:password@tcp(host:3306)/database' -by week
//
// Its table is snowkey_partitioned. The next time it continues with the rows and partitions that
// are there.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

const table = "snowkey_partitioned"

type options struct {
	db, by                    string
	keep, ahead, rows, worker int64
	now                       time.Time
}

func main() {
	opt := options{now: time.Now()}
	flag.StringVar(&opt.db, "db", "", "postgres://… or, for MySQL and MariaDB, user:password@tcp(host:3306)/database; default: PGHOST, PGUSER and so on")
	flag.StringVar(&opt.by, "by", "day", "day, week or month")
	flag.Int64Var(&opt.keep, "keep", 5, "periods before this one whose orders are kept")
	flag.Int64Var(&opt.ahead, "ahead", 3, "periods after this one that get partitions")
	flag.Int64Var(&opt.rows, "rows", 1000, "orders to add")
	flag.Int64Var(&opt.worker, "worker", 1, "worker ID of this process, 0 to 1023")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, opt)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "partitions:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, opt options) error {
	for name, n := range map[string]int64{"-keep": opt.keep, "-ahead": opt.ahead, "-rows": opt.rows} {
		if n < 1 || n > 100_000 {
			return fmt.Errorf("%s %d: want 1 to 100000", name, n)
		}
	}
	gen, err := core.New(core.Config{Worker: core.Fixed(opt.worker)})
	if err != nil {
		return fmt.Errorf("-worker %d: %w", opt.worker, err)
	}
	defer gen.Close()
	db, dialect, err := open(opt.db)
	if err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	defer db.Close()

	orders := ddl.Partitioning{Dialect: dialect, Layout: gen.Layout(), Table: table, By: ddl.Period(opt.by)}
	now := opt.now.UTC()
	from, to := ago(orders.By, now, opt.keep), ago(orders.By, now, -opt.ahead)
	if first := orders.Layout.Epoch.Add(time.Millisecond); from.Before(first) {
		from = first // not the epoch itself, whose first id is 0
	}
	fresh, err := prepare(ctx, db, orders, from, to, out)
	if err != nil {
		return err
	}
	ids := make([]int64, opt.rows)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	if fresh {
		ids = append(past(orders, from, now, opt.rows), ids...)
	}
	if err := insert(ctx, db, ids); err != nil {
		return err
	}
	if err := show(ctx, db, orders, out); err != nil {
		return err
	}
	if err := explain(ctx, db, orders, now, out); err != nil {
		return err
	}
	return retain(ctx, db, orders, from, out)
}

func open(dsn string) (*sql.DB, ddl.Dialect, error) {
	driver, dialect := "mysql", ddl.MySQL
	if dsn == "" || strings.HasPrefix(dsn, "postgres") {
		driver, dialect = "pgx", ddl.Postgres
	}
	db, err := sql.Open(driver, dsn)
	return db, dialect, err
}

// ago returns a time n periods before t.
func ago(p ddl.Period, t time.Time, n int64) time.Time {
	switch p {
	case ddl.Week:
		return t.AddDate(0, 0, -7*int(n))
	case ddl.Month: // from the first: not every month has a 31st
		return time.Date(t.Year(), t.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	}
	return t.AddDate(0, 0, -int(n))
}

// prepare creates the table, unless it exists, and the partitions that it lacks. A daily job
// would do this. If another process does the same at the same time, a statement fails, and
// prepare reads the partitions again.
func prepare(ctx context.Context, db *sql.DB, orders ddl.Partitioning, from, to time.Time, out io.Writer) (fresh bool, err error) {
	for failed := ""; ; {
		have, err := orders.Read(ctx, db)
		if err != nil {
			return fresh, err
		}
		var script ddl.Script
		if len(have) == 0 && !fresh {
			script, err = create(orders, from, to)
		} else {
			script, err = orders.Extend(have, from, to)
		}
		if err != nil || len(script) == 0 {
			return fresh, err
		}
		switch err = exec(ctx, db, script, out); {
		case err == nil && len(have) == 0:
			fresh = true // PostgreSQL's table has no partition yet
		case err != nil && script.String() == failed:
			return fresh, err
		case err != nil:
			failed = script.String()
		}
	}
}

// create returns the statement that creates the table, on MySQL with its first partition.
func create(orders ddl.Partitioning, from, to time.Time) (ddl.Script, error) {
	want, err := orders.Bounds(from, to)
	if err != nil {
		return nil, err
	}
	clause, err := orders.Clause(want[:1])
	return ddl.Script{"CREATE TABLE IF NOT EXISTS " + table + " (id bigint NOT NULL PRIMARY KEY, note varchar(100) NOT NULL) " + clause}, err
}

// exec runs a script and prints it.
func exec(ctx context.Context, db *sql.DB, script ddl.Script, out io.Writer) error {
	fmt.Fprintln(out, script)
	for _, statement := range script {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// retain drops the partitions whose orders are all older than from.
func retain(ctx context.Context, db *sql.DB, orders ddl.Partitioning, from time.Time, out io.Writer) error {
	have, err := orders.Read(ctx, db)
	if err != nil {
		return err
	}
	kept, err := orders.Bounds(from, from.Add(1)) // the whole period of from
	if err != nil {
		return err
	}
	old, err := orders.Before(have, kept[0].From)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d partitions are older than %s\n", len(old), kept[0].From.Format(time.DateOnly))
	if len(old) == 0 {
		return nil
	}
	script, err := orders.Drop(old)
	if err != nil {
		return err
	}
	return exec(ctx, db, script, out)
}
