// Package models has the rows.
package models

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Order is a parent row.
type Order struct {
	ID       sqltype.Key[Order]     `json:"id"`
	ParentID sqltype.NullKey[Order] `json:"parentId" extensions:"x-nullable"`
	Number   string                 `json:"number"`
}

// KeyForm is the prefix.
func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// Line is a child row. The generator can write neither a pointer to a Key nor the type sku: an alias
// can.
type Line struct {
	ID       sqltype.ID     `json:"id"`
	OrderID  OrderKey       `json:"orderId"`
	Replaces sqltype.NullID `json:"replaces" extensions:"x-nullable"`
	Gift     *OrderKey      `json:"gift"`
	SkuID    SkuKey         `json:"skuId"`
}

type sku struct{}
