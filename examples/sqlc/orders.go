package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/examples/sqlc/db"
	"github.com/seed-299c1d6b/snowkey/examples/sqlc/key"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// order is an order with its lines, as sqlc's functions take them.
type order struct {
	db.InsertOrdersParams
	lines []db.InsertLinesParams
}

// draft makes up orders, and assigns the keys of all rows from one reservation. Every fifth order
// replaces the one before.
func draft(ctx context.Context, src sqltype.Source, opt options) ([]order, error) {
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
		func(l *db.InsertLinesParams) *key.Line { return &l.ID },
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

// insert writes all rows in one transaction. The server returns no keys, so the orders need one
// round trip, and the lines can use COPY.
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

// report reads the orders back.
func report(ctx context.Context, pool *pgxpool.Pool, gen *worker.Generator, orders []order, out io.Writer) error {
	q := db.New(pool)
	first, last := orders[0].ID, orders[len(orders)-1].ID

	// A page begins after the last key of the page before.
	var ids []sqltype.ID
	pages := 0
	for after := first - 1; after < last; pages++ {
		page, err := q.PageOfOrders(ctx, db.PageOfOrdersParams{After: after, Size: pageSize})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, o := range page {
			ids = append(ids, o.ID)
		}
		after = page[len(page)-1].ID
	}
	lines, err := q.LinesOf(ctx, ids)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "read back %d orders in %d pages, and %d lines\n", len(ids), pages, len(lines))

	// The keys are an index by time.
	now := time.Now()
	low, high, err := gen.Layout().Range(now.Add(-time.Hour), now.Add(time.Minute))
	if err != nil {
		return err
	}
	recent, err := q.OrdersBetween(ctx, db.OrdersBetweenParams{Low: sqltype.ID(low), High: sqltype.ID(high)})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d orders of the last hour\n", len(recent))

	// A row that exists keeps its key in an upsert.
	offered, err := sqltype.New(ctx, gen)
	if err != nil {
		return err
	}
	kept, err := q.PutOrder(ctx, db.PutOrderParams{ID: offered, Number: orders[0].Number, Customer: orders[0].Customer})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s put again keeps its key: %t\n", orders[0].Number, kept == first)

	rows, err := q.Replaced(ctx, ids[:min(len(ids), 4)]) // ids, also null ones, are strings in JSON
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
