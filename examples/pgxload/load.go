package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
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
	product  text NOT NULL,
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

// tables describes the rows of an order: parents first.
func tables() []pgxtype.Table[order] {
	return []pgxtype.Table[order]{
		pgxtype.ParentTable(pgx.Identifier{"pgxload_orders"}, []string{"id", "number", "customer", "placed_at"},
			func(o *order, row []any) []any {
				return append(row, &o.ID, &o.Number, &o.Customer.Name, &o.PlacedAt)
			}),
		pgxtype.ChildTable(pgx.Identifier{"pgxload_lines"}, []string{"id", "order_id", "sku", "product", "quantity", "cents"},
			func(o *order) []line { return o.Lines },
			func(l *line, row []any) []any {
				return append(row, &l.ID, &l.OrderID, &l.SKU, &l.Product, &l.Quantity, &l.Cents)
			}),
	}
}

// withKeys yields the orders of the file under the keys in ids, so that each row has the same
// key however often the file is read.
func withKeys(file data.File, ids []int64) iter.Seq2[order, error] {
	return func(yield func(order, error) bool) {
		rest := ids
		for read, err := range file.Orders() {
			if err == nil && len(rest) < 1+len(read.Lines) {
				err = fmt.Errorf("%s:%d: the file has grown since it was counted", file.Name, read.Row)
			}
			if err != nil {
				yield(order{}, err)
				return
			}
			o := order{Order: read, ID: sqltype.ID(rest[0]), Lines: make([]line, len(read.Lines))}
			for i, l := range read.Lines {
				o.Lines[i] = line{l, sqltype.ID(rest[1+i]), o.ID}
			}
			rest = rest[1+len(o.Lines):]
			if !yield(o, nil) {
				return
			}
		}
		if len(rest) > 0 {
			yield(order{}, fmt.Errorf("%s: the file has shrunk since it was counted: %d rows are missing", file.Name, len(rest)))
		}
	}
}

// load sends the rows as they are read. After a deadlock or a lost connection the file is read
// once more, under the same keys.
func load(ctx context.Context, pool *pgxpool.Pool, file data.File, ids []int64, method pgxtype.Method) (loaded pgxtype.Loaded, err error) {
	err = pgxtype.Retry(ctx, pool, pgxtype.RetryConfig{
		Committed: func(ctx context.Context) (there bool, err error) {
			err = pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pgxload_orders WHERE id = $1)`, sqltype.ID(ids[0])).Scan(&there)
			return there, err
		},
	}, func(tx pgx.Tx) (err error) {
		loaded, err = pgxtype.Load(ctx, tx, withKeys(file, ids), pgxtype.LoadConfig[order]{Tables: tables(), Method: method})
		return err
	})
	if errors.Is(err, pgxtype.ErrOutcomeUnknown) {
		return loaded, fmt.Errorf("all of the file may have been written, or nothing: look in pgxload_orders for id %d: %w", ids[0], err)
	}
	var refused *pgxtype.LoadError
	if errors.As(err, &refused) && refused.Parent >= 0 {
		n := int64(0)
		for o, errRead := range file.Orders() {
			if errRead == nil && n == refused.Parent {
				return loaded, fmt.Errorf("nothing was written: %s:%d: order %q: %w", file.Name, o.Row, o.Number, err)
			}
			n++
		}
	}
	return loaded, err
}

// report reads the newest orders back.
func report(ctx context.Context, pool *pgxpool.Pool, out io.Writer) error {
	rows, err := pool.Query(ctx, `
		SELECT o.id, number, customer, placed_at, sum(quantity * cents)::bigint
		FROM pgxload_orders o JOIN pgxload_lines l ON l.order_id = o.id
		WHERE o.id = ANY(SELECT id FROM pgxload_orders ORDER BY id DESC LIMIT 5)
		GROUP BY o.id ORDER BY o.id DESC`)
	if err != nil {
		return err
	}
	var (
		id               sqltype.ID
		number, customer string
		placed           time.Time
		cents            int64
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &number, &customer, &placed, &cents}, func() error {
		_, err := fmt.Fprintf(out, "%d  %s  %s  %s  %d.%02d\n", id, number, placed.UTC().Format(time.DateTime), customer, cents/100, cents%100)
		return err
	})
	return err
}
