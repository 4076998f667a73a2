// Package data holds the input that the examples read by default.
package data

import _ "embed" // for go:embed

// Orders is a CSV of orders, a row for each of their lines. The first row names
// the columns: order, placed_at, customer, email, sku, product, quantity,
// unit_price.
//
//go:embed orders.csv
var Orders []byte
