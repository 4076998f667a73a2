// Package shop has the rows that every library for SQL writes and reads.
package shop

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Order is a parent row. Its key has a prefix.
type Order struct {
	ID       OrderKey     `json:"id"`
	Number   string       `json:"number"` // unique
	Customer string       `json:"customer"`
	ParentID NullOrderKey `json:"parent_id"`
	Lines    []Line       `json:"-"`
}

// KeyForm is the prefix.
func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// Line is a child row.
type Line struct {
	ID      sqltype.ID `json:"id"`
	OrderID OrderKey   `json:"order_id"`
	SKU     string     `json:"sku"`
}

// Names for the generators that cannot write those of generic types.
type (
	OrderKey     = sqltype.Key[Order]
	NullOrderKey = sqltype.NullKey[Order]
)
