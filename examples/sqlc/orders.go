package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/db"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// order is the rows that sqlc's functions take, together.
type order struct {
	db.InsertOrdersParams
	lines []db.InsertLinesParams
}

// draft makes up orders, with the keys of all their rows from one reservation. Every
// fifth replaces the one before.
func draft(ctx context.Context, src sqltype.Filler, opt options) ([]order, error) {
	orders := make([]order, opt.orders)
	for i := range orders {
		orders[i].Customer = []string{"Ada", "Bob", "Cyd"}[i%3]
		orders[i].lines = make([]db.InsertLinesParams, opt.lines)
		for j := range orders[i].lines {
			orders[i].lines[j].Sku, orders[i].lines[j].Cents = fmt.Sprintf("article %d", j), int64(100*j)
		}
	}
	err := sqltype.Assign(ctx, src, orders, func(o *order) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *order) []db.InsertLinesParams { return o.lines },
		func(l *db.InsertLinesParams) *sqltype.ID { return &l.ID },
		func(l *db.InsertLinesParams) *sqltype.ID { return &l.OrderID },
	))
	if err != nil {
		return nil, err
	}
	for i := range orders {
		orders[i].Number = "SO-" + orders[i].ID.Base32()
		if i%5 == 4 {
			orders[i].Replaces = sqltype.NullID{ID: orders[i-1].ID, Valid: true}
		}
	}
	return orders, nil
}

// insert writes all rows in one transaction. No key has to come back from the server, so
// the orders are one round trip, and the lines can go by COPY.
func insert(ctx context.Context, pool *pgxpool.Pool, orders []order) (copied int64, err error) {
	rows := make([]db.InsertOrdersParams, len(orders))
	var lines []db.InsertLinesParams
	for i, o := range orders {
		rows[i] = o.InsertOrdersParams
		lines = append(lines, o.lines...)
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		var failed error
		q.InsertOrders(ctx, rows).Exec(func(i int, err error) {
			if err != nil && failed == nil { // those after it fail because of it
				failed = fmt.Errorf("order %d: %w", rows[i].ID, err)
			}
		})
		if failed != nil {
			return failed
		}
		copied, err = q.InsertLines(ctx, lines)
		return err
	})
	return copied, err
}

const pageSize = 400

// report reads the orders back, and fails if one has changed on the way.
func report(ctx context.Context, pool *pgxpool.Pool, gen *core.Generator, orders []order, stdout io.Writer) error {
	q := db.New(pool)
	first, last := orders[0].ID, orders[len(orders)-1].ID

	// A page begins behind the last key of the one before.
	found, pages := map[sqltype.ID]db.Order{}, 0
	for after := first - 1; after < last; pages++ {
		page, err := q.PageOfOrders(ctx, db.PageOfOrdersParams{After: after, Size: pageSize})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, o := range page {
			found[o.ID] = o
		}
		after = page[len(page)-1].ID
	}
	ids := make([]sqltype.ID, len(orders))
	for i, o := range orders {
		ids[i] = o.ID
		if found[o.ID] != db.Order(o.InsertOrdersParams) {
			return fmt.Errorf("order %d came back as %+v", o.ID, found[o.ID])
		}
	}
	lines, err := q.LinesOf(ctx, ids)
	if err != nil {
		return err
	}
	for i, l := range slices.Concat(linesOf(orders)...) {
		if i >= len(lines) || lines[i] != db.Line(l) {
			return fmt.Errorf("line %d is not as it was sent", l.ID)
		}
	}
	fmt.Fprintf(stdout, "read back in %d pages: each row is as it was sent, under its key\n", pages)

	// The time in the ids is an index by time.
	from, to, err := times(gen.Layout(), first, last)
	if err != nil {
		return err
	}
	low, high, err := gen.Layout().Range(from, to)
	if err != nil {
		return err
	}
	between, err := q.OrdersBetween(ctx, db.OrdersBetweenParams{Low: sqltype.ID(low), High: sqltype.ID(high)})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d orders have ids from %s to before %s\n", len(between), from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano))

	// A row that is there keeps its key, whatever is offered.
	offered, err := sqltype.New(ctx, gen)
	if err != nil {
		return err
	}
	kept, err := q.PutOrder(ctx, db.PutOrderParams{ID: offered, Number: orders[0].Number, Customer: orders[0].Customer})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s put again keeps its key: %t\n", orders[0].Number, kept == first)

	rows, err := q.Replaced(ctx, ids[:min(len(ids), 4)])
	if err != nil {
		return err
	}
	enc := json.NewEncoder(stdout)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func linesOf(orders []order) (lines [][]db.InsertLinesParams) {
	for _, o := range orders {
		lines = append(lines, o.lines)
	}
	return lines
}

// times is the span in which the ids from first to last were made.
func times(layout core.Layout, first, last sqltype.ID) (from, to time.Time, err error) {
	a, err := layout.Decode(first.Int64())
	if err != nil {
		return from, to, err
	}
	b, err := layout.Decode(last.Int64())
	return a.Time, b.Time.Add(layout.WithDefaults().Tick), err
}
