package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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
	id         bigint PRIMARY KEY,
	order_id   bigint NOT NULL REFERENCES pgxload_orders,
	position   int NOT NULL,
	sku        text NOT NULL,
	product    text NOT NULL,
	quantity   int NOT NULL CHECK (quantity > 0),
	unit_price numeric(12,2) NOT NULL,
	UNIQUE (order_id, position)
)`

// tables says what an order's rows are: parents first.
func tables() []pgxtype.Table[order] {
	return []pgxtype.Table[order]{
		pgxtype.ParentTable(pgx.Identifier{"pgxload_orders"}, []string{"id", "number", "customer", "placed_at"},
			func(o *order, row []any) []any { return append(row, &o.ID, &o.Number, &o.Customer, &o.PlacedAt) }),
		pgxtype.ChildTable(pgx.Identifier{"pgxload_lines"}, []string{"id", "order_id", "position", "sku", "product", "quantity", "unit_price"},
			func(o *order) []line { return o.Lines },
			func(l *line, row []any) []any {
				return append(row, &l.ID, &l.OrderID, &l.Position, &l.SKU, &l.Product, &l.Quantity, &l.UnitPrice)
			}),
	}
}

// load is the second pass: the rows are sent as they are read. Should another
// transaction be in the way the file is read once more, under the same keys.
func load(ctx context.Context, pool *pgxpool.Pool, in input, ids []int64, method pgxtype.Method, tick func(done int64)) (pgxtype.Loaded, error) {
	cfg := pgxtype.LoadConfig[order]{Tables: tables(), Method: method, Progress: func(l pgxtype.Loaded) { tick(l.Parents) }}
	var loaded pgxtype.Loaded
	err := pgxtype.Retry(ctx, pool, pgxtype.RetryConfig{
		Committed: func(ctx context.Context) (there bool, err error) {
			err = pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pgxload_orders WHERE id = $1)`, sqltype.ID(ids[0])).Scan(&there)
			return there, err
		},
	}, func(tx pgx.Tx) (err error) {
		loaded, err = pgxtype.Load(ctx, tx, in.withKeys(ids), cfg)
		return err
	})
	if errors.Is(err, pgxtype.ErrOutcomeUnknown) { // first: an interrupt may be why
		return loaded, fmt.Errorf("all of the file may have been written, or nothing: look in pgxload_orders for id %d: %w", ids[0], err)
	}
	if ctx.Err() != nil && err != nil {
		return loaded, errors.New("interrupted: nothing was written")
	}
	var at *pgxtype.LoadError
	if errors.As(err, &at) && at.Parent >= 0 {
		return loaded, fmt.Errorf("%s; nothing was written", in.explain(at))
	}
	return loaded, err
}

// explain finds the place in the file of a row that the database refused.
func (in input) explain(at *pgxtype.LoadError) string {
	n := int64(0)
	for o, err := range in.orders() {
		if err != nil {
			break
		}
		if n == at.Parent {
			return fmt.Sprintf("%s:%d: order %q: %v", in.name, o.at, o.Number, at)
		}
		n++
	}
	return at.Error()
}

// report reads the newest orders back.
func report(ctx context.Context, pool *pgxpool.Pool, w io.Writer) error {
	type summary struct {
		ID       sqltype.ID
		Number   string
		Customer string
		PlacedAt time.Time
		Lines    int
		Total    string
	}
	rows, err := pool.Query(ctx, `
		SELECT o.id, number, customer, placed_at, count(*)::int AS lines, sum(quantity * unit_price)::text AS total
		FROM pgxload_orders o JOIN pgxload_lines l ON l.order_id = o.id
		WHERE o.id = ANY(SELECT id FROM pgxload_orders ORDER BY id DESC LIMIT 5)
		GROUP BY o.id ORDER BY o.id DESC`)
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	newest, err := pgx.CollectRows(rows, pgx.RowToStructByName[summary])
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	fmt.Fprintln(w, "The newest orders, read back:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  id\tnumber\tplaced\tcustomer\tlines\ttotal")
	for _, s := range newest {
		fmt.Fprintf(table, "  %d\t%s\t%s\t%s\t%d\t%s\n", s.ID, s.Number, s.PlacedAt.UTC().Format(time.DateTime), s.Customer, s.Lines, s.Total)
	}
	return table.Flush()
}
