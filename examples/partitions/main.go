// Command partitions keeps a table of orders in partitions by the time in its ids: it creates those
// that are missing, adds orders, lists the partitions, and drops what is too old.
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
	db, by      string
	keep, ahead int
	now         time.Time
}

func main() {
	opt := options{now: time.Now()}
	flag.StringVar(&opt.db, "db", "", "postgres://… or, for MySQL and MariaDB, user:password@tcp(host:3306)/database; default: PGHOST, PGUSER and so on")
	flag.StringVar(&opt.by, "by", "day", "day, week or month")
	flag.IntVar(&opt.keep, "keep", 5, "days before this one whose orders are kept")
	flag.IntVar(&opt.ahead, "ahead", 3, "days after this one that get partitions")
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
	driver, dialect := "mysql", ddl.MySQL
	if opt.db == "" || strings.HasPrefix(opt.db, "postgres") {
		driver, dialect = "pgx", ddl.Postgres
	}
	db, err := sql.Open(driver, opt.db)
	if err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	defer db.Close()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // or a lease, where several processes write
	if err != nil {
		return err
	}
	defer gen.Close()

	orders := ddl.Partitioning{Dialect: dialect, Layout: gen.Layout(), Table: table, By: ddl.Period(opt.by)}
	from, to := opt.now.UTC().AddDate(0, 0, -opt.keep), opt.now.UTC().AddDate(0, 0, opt.ahead)
	if err := prepare(ctx, db, orders, from, to, out); err != nil {
		return err
	}
	ids := make([]int64, 100)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = fmt.Sprintf("(%d, 'an order')", id)
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO "+table+" (id, note) VALUES "+strings.Join(rows, ", ")); err != nil {
		return err
	}
	if err := retain(ctx, db, orders, from, out); err != nil {
		return err
	}
	return show(ctx, db, orders, out)
}

// prepare creates the table, unless it exists, and the partitions that it lacks. A daily job would do
// this; docs/partitions.md has one that several processes may run at the same time.
func prepare(ctx context.Context, db *sql.DB, orders ddl.Partitioning, from, to time.Time, out io.Writer) error {
	want, err := orders.Bounds(from, to)
	if err != nil {
		return err
	}
	clause, err := orders.Clause(want[:1]) // on MySQL a table has at least one partition
	if err != nil {
		return err
	}
	create := ddl.Script{"CREATE TABLE IF NOT EXISTS " + table + " (id bigint NOT NULL PRIMARY KEY, note varchar(100) NOT NULL) " + clause}
	if err := exec(ctx, db, create, out); err != nil {
		return err
	}
	have, err := orders.Read(ctx, db)
	if err != nil {
		return err
	}
	script, err := orders.Extend(have, from, to)
	if err != nil {
		return err
	}
	return exec(ctx, db, script, out)
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
	if err != nil || len(old) == 0 {
		return err
	}
	script, err := orders.Drop(old)
	if err != nil {
		return err
	}
	return exec(ctx, db, script, out)
}

// show lists the partitions with the number of their rows.
func show(ctx context.Context, db *sql.DB, orders ddl.Partitioning, out io.Writer) error {
	have, err := orders.Read(ctx, db)
	if err != nil {
		return err
	}
	for _, part := range have {
		var n int
		if err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE id >= %d AND id < %d", table, part.Min, part.Max)).Scan(&n); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-32s before %s %4d orders\n", part.Name, part.To.Format(time.DateOnly), n)
	}
	return nil
}

// exec prints a script and runs it.
func exec(ctx context.Context, db *sql.DB, script ddl.Script, out io.Writer) error {
	fmt.Fprintln(out, script)
	for _, statement := range script {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
