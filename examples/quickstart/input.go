package main

import "github.com/seed-299c1d6b/snowkey/examples/data"

// read reads the whole file before anything is written.
func read(file data.File) ([]*Order, error) {
	var orders []*Order
	customers := map[*data.Customer]*Customer{} // one struct per customer is one row
	for o, err := range file.Orders() {
		if err != nil {
			return nil, err
		}
		c := customers[o.Customer]
		if c == nil {
			c = &Customer{Name: o.Customer.Name, Email: o.Customer.Email}
			customers[o.Customer] = c
		}
		order := &Order{Number: o.Number, PlacedAt: o.PlacedAt, Customer: c}
		for i, l := range o.Lines {
			order.Lines = append(order.Lines, OrderLine{Position: i + 1, SKU: l.SKU, Product: l.Product, Quantity: l.Quantity, UnitPrice: l.Cents})
		}
		orders = append(orders, order)
	}
	return orders, nil
}
