// Package mixing mixes keys up. No line with a comment compiles, for the reason in the comment.
package mixing

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Customer struct {
	ID sqltype.Key[Customer]
}

type Order struct {
	ID         sqltype.Key[Order]
	CustomerID sqltype.Key[Customer]
	ParentID   sqltype.NullKey[Order]
	Lines      []Line
}

type Line struct {
	ID         sqltype.Key[Line]
	OrderID    sqltype.Key[Order]
	CustomerID sqltype.Key[Customer]
}

func load(sqltype.Key[Order]) {}

func mix(ctx context.Context, src sqltype.Source, order Order, customer Customer, orders []Order, id sqltype.ID) {
	order.CustomerID = customer.ID
	order.ID = customer.ID // cannot use customer.ID (VALUE sqltype.Key[Customer]) as sqltype.Key[Order] value in assignment
	order.ID = id          // cannot use id (VALUE sqltype.ID) as sqltype.Key[Order] value in assignment
	id = order.ID          // cannot use order.ID (VALUE sqltype.Key[Order]) as sqltype.ID value in assignment
	id, order.ID = sqltype.ID(order.ID), sqltype.Key[Order](id)

	_ = order.CustomerID == customer.ID
	_ = order.ID == customer.ID       // invalid operation: order.ID == customer.ID (mismatched types sqltype.Key[Order] and sqltype.Key[Customer])
	_ = order.ID.Compare(customer.ID) // cannot use customer.ID (VALUE sqltype.Key[Customer]) as sqltype.Key[Order] value in argument to order.ID.Compare

	load(order.ID)
	load(customer.ID) // cannot use customer.ID (VALUE sqltype.Key[Customer]) as sqltype.Key[Order] value in argument to load

	_ = Order{CustomerID: customer.ID}
	_ = Order{ID: customer.ID} // cannot use customer.ID (VALUE sqltype.Key[Customer]) as sqltype.Key[Order] value in struct literal
	_ = Order{ParentID: sqltype.NullKey[Order]{Key: order.ID}}
	_ = Order{ParentID: sqltype.NullKey[Order]{Key: customer.ID}} // cannot use customer.ID (VALUE sqltype.Key[Customer]) as sqltype.Key[Order] value in struct literal
	_ = []sqltype.Key[Order]{order.ID, customer.ID}               // cannot use customer.ID (VALUE sqltype.Key[Customer]) as sqltype.Key[Order] value in array or slice literal
	_ = map[sqltype.Key[Order]]Order{}[customer.ID]               // cannot use customer.ID (VALUE sqltype.Key[Customer]) as sqltype.Key[Order] value in map index

	key := func(o *Order) *sqltype.Key[Order] { return &o.ID }
	list := func(o *Order) []Line { return o.Lines }
	own := func(l *Line) *sqltype.Key[Line] { return &l.ID }
	_ = sqltype.Assign(ctx, src, orders, key,
		sqltype.Children(list, own, func(l *Line) *sqltype.Key[Order] { return &l.OrderID }))
	_ = sqltype.Assign(ctx, src, orders, key,
		sqltype.Children(list, own, func(l *Line) *sqltype.Key[Customer] { return &l.CustomerID })) // type sqltype.Child[Order, sqltype.Key[Customer]] of sqltype.Children(list, own, func(l *Line) *sqltype.Key[Customer] {…}) does not match inferred type sqltype.Child[Order, sqltype.Key[Order]] for sqltype.Child[P, K]
}
