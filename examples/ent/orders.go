package main

import (
	"context"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/key"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/line"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/order"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// newOrder is an order before it is written.
type newOrder struct {
	ID       key.Order
	Customer string
	Lines    []newLine
}

type newLine struct {
	ID      sqltype.ID
	OrderID key.Order
	SKU     string
}

// atOnce is the number of rows per INSERT: databases limit its parameters.
const atOnce = 1000

// insert assigns the keys of all rows from one reservation, and writes the rows in one
// transaction, orders first.
func insert(ctx context.Context, client *db.Client, src sqltype.Source, orders []newOrder) error {
	if err := sqltype.Assign(ctx, src, orders, func(o *newOrder) *key.Order { return &o.ID }, sqltype.Children(
		func(o *newOrder) []newLine { return o.Lines },
		func(l *newLine) *sqltype.ID { return &l.ID },
		func(l *newLine) *key.Order { return &l.OrderID },
	)); err != nil {
		return err
	}
	tx, err := client.Tx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	var lines []newLine
	for part := range slices.Chunk(orders, atOnce) {
		if err := tx.Order.MapCreateBulk(part, func(row *db.OrderCreate, i int) {
			row.SetID(part[i].ID).SetCustomer(part[i].Customer)
		}).Exec(ctx); err != nil {
			return err
		}
		for _, o := range part {
			lines = append(lines, o.Lines...)
		}
	}
	for part := range slices.Chunk(lines, atOnce) {
		if err := tx.Line.MapCreateBulk(part, func(row *db.LineCreate, i int) {
			row.SetID(part[i].ID).SetOrderID(part[i].OrderID).SetSku(part[i].SKU)
		}).Exec(ctx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// between finds the orders whose ids were made in [from, to), with their lines, by the primary
// key.
func between(ctx context.Context, client *db.Client, layout core.Layout, from, to time.Time) ([]*db.Order, error) {
	low, high, err := layout.Range(from, to)
	if err != nil {
		return nil, err
	}
	return client.Order.Query().
		Where(order.IDGTE(key.Order(low)), order.IDLT(key.Order(high))).
		WithLines(func(q *db.LineQuery) { q.Order(line.ByID()) }).
		Order(order.ByID()).All(ctx)
}
