// Package shop has the rows that every library for SQL writes and reads.
package shop

import (
	"context"
	"database/sql/driver"

	"github.com/lib/pq"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order is a parent row. Its key has a prefix.
type Order struct {
	ID       OrderKey     `db:"id" json:"id"`
	Number   string       `db:"number" json:"number"`
	Customer string       `db:"customer" json:"customer"`
	ParentID NullOrderKey `db:"parent_id" json:"parent_id"`
	Lines    []Line       `db:"-" json:"-"`
}

// KeyForm is the prefix.
func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// Line is a child row.
type Line struct {
	ID      sqltype.ID `db:"id" json:"id"`
	OrderID OrderKey   `db:"order_id" json:"order_id"`
	SKU     string     `db:"sku" json:"sku"`
}

// OrderKey is a name for the generators that cannot write that of a generic type.
type OrderKey = sqltype.Key[Order]

// NullOrderKey is an OrderKey or NULL.
type NullOrderKey = sqltype.NullKey[Order]

// IDs is an array in PostgreSQL, for a library that does not know arrays of an ID.
type IDs []sqltype.ID

// Value is for writing.
func (l IDs) Value() (driver.Value, error) { return pq.Array([]sqltype.ID(l)).Value() }

// Scan is for reading.
func (l *IDs) Scan(src any) error { return pq.Array((*[]sqltype.ID)(l)).Scan(src) }

// Assign gives a key to each row that has none, from one reservation.
func Assign(ctx context.Context, src sqltype.Source, orders []Order) error {
	return sqltype.Assign(ctx, src, orders, func(o *Order) *OrderKey { return &o.ID }, sqltype.Children(
		func(o *Order) []Line { return o.Lines },
		func(l *Line) *sqltype.ID { return &l.ID },
		func(l *Line) *OrderKey { return &l.OrderID },
	))
}

// Lines are those of all orders.
func Lines(orders []Order) (lines []Line) {
	for _, o := range orders {
		lines = append(lines, o.Lines...)
	}
	return lines
}

// Join gives the lines to their orders.
func Join(orders []Order, lines []Line) []Order {
	at := map[OrderKey]*Order{}
	for i := range orders {
		at[orders[i].ID] = &orders[i]
	}
	for _, l := range lines {
		at[l.OrderID].Lines = append(at[l.OrderID].Lines, l)
	}
	return orders
}
