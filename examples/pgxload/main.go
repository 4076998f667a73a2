// Command pgxload loads a CSV of orders into PostgreSQL with pgx: orders and lines by COPY, in one
// transaction, under keys from one reservation. After a deadlock or a lost connection the same rows
// are sent again.
//
//	go run ./examples/pgxload -dsn postgres://user@host/database -in orders.csv
//
// Two processes that load at the same time need two worker IDs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const schema = `
CREATE TABLE IF NOT EXISTS pgxload_orders (
	id        bigint PRIMARY KEY,
	number    text NOT NULL UNIQUE,
	customer  text NOT NULL,
	placed_at timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS pgxload_lines (
	id       bigint PRIMARY KEY,
	order_id bigint NOT NULL REFERENCES pgxload_orders,
	sku      text NOT NULL,
	quantity bigint NOT NULL,
	cents    bigint NOT NULL
)`

type order struct {
	*data.Order
	ID    sqltype.ID
	Lines []line
}

type line struct {
	data.Line
	ID, OrderID sqltype.ID
}

// write writes the orders with their lines: parents first.
func write(w *pgxload.Writer, input []order) {
	orders := w.Table("pgxload_orders", "id", "number", "customer", "placed_at")
	lines := w.Table("pgxload_lines", "id", "order_id", "sku", "quantity", "cents")
	for i := range input {
		o := &input[i]
		orders.Row(&o.ID, &o.Number, &o.Customer.Name, &o.PlacedAt)
		for j := range o.Lines {
			l := &o.Lines[j]
			lines.Row(&l.ID, &l.OrderID, &l.SKU, &l.Quantity, &l.Cents)
		}
	}
}

func main() {
	in := flag.String("in", "", "CSV `file` of orders, one row per line; default: examples/data/orders.csv")
	dsn := flag.String("dsn", "", "postgres://user:password@host/database; default: PGHOST, PGUSER and so on")
	worker := flag.Int64("worker", 1, "worker ID of this process, 0 to 1023")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *in, *dsn, *worker)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgxload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, in, dsn string, worker int64) error {
	file, err := data.Read(in)
	if err != nil {
		return err // before the database is touched
	}
	gen, err := core.New(core.Config{Worker: core.Fixed(worker)})
	if err != nil {
		return fmt.Errorf("-worker %d: %w", worker, err)
	}
	defer gen.Close()
	orders := make([]order, len(file))
	for i, o := range file {
		orders[i] = order{Order: o, Lines: make([]line, len(o.Lines))}
		for j, l := range o.Lines {
			orders[i].Lines[j].Line = l
		}
	}
	if err := sqltype.Assign(ctx, gen, orders, func(o *order) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *order) []line { return o.Lines },
		func(l *line) *sqltype.ID { return &l.ID },
		func(l *line) *sqltype.ID { return &l.OrderID },
	)); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return fmt.Errorf("-dsn: %w", err) // pgx hides the password
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, schema); err != nil {
		return fmt.Errorf("-dsn: %w", err)
	}
	began := time.Now()
	loaded, err := load(ctx, pool, orders)
	if err != nil {
		return err
	}
	took := time.Since(began)
	_, err = fmt.Fprintf(out, "%d orders, %d rows in one transaction, %v, %.0f rows/s\n", len(orders), loaded.Rows, took.Round(time.Millisecond), float64(loaded.Rows)/took.Seconds())
	return err
}

// load writes all orders or none. If the answer to COMMIT is lost, Committed asks whether they are
// there.
func load(ctx context.Context, pool *pgxpool.Pool, orders []order) (loaded pgxload.Loaded, err error) {
	err = pgxload.RetryWith(ctx, pool, pgxload.RetryConfig{
		Committed: func(ctx context.Context) (there bool, err error) {
			err = pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pgxload_orders WHERE id = $1)`, orders[0].ID).Scan(&there)
			return there, err
		},
	}, func(tx pgx.Tx) (err error) {
		loaded, err = pgxload.Load(ctx, tx, func(w *pgxload.Writer) error {
			write(w, orders)
			return nil
		})
		return err
	})
	if errors.Is(err, sqltype.ErrOutcomeUnknown) {
		return loaded, fmt.Errorf("all was written, or nothing: look in pgxload_orders for id %d: %w", orders[0].ID, err)
	}
	return loaded, err
}
