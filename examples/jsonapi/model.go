package main

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order is a parent. Its key is a snowflake by its type, and cannot be mixed up with a line's.
// The key has the time when the order was placed, so there is no column for it.
type Order struct {
	ID         sqltype.Key[Order]  `json:"id"`
	PlacedAt   time.Time           `gorm:"-" json:"placedAt"`
	ReorderOf  *sqltype.Key[Order] `json:"reorderOf,omitempty"` // the order that this one repeats
	Customer   string              `gorm:"size:190;not null" json:"customer"`
	Note       string              `gorm:"size:1000;not null" json:"note"`
	TotalCents int64               `gorm:"-" json:"totalCents"`
	Lines      []Line              `gorm:"constraint:OnDelete:CASCADE" json:"lines"`
}

// Line is a child of an Order. The keys of both come from one reservation, so lines are sorted by
// their keys.
type Line struct {
	ID         sqltype.Key[Line]  `json:"id"`
	OrderID    sqltype.Key[Order] `gorm:"index;not null" json:"orderId"`
	SKU        string             `gorm:"size:64;not null" json:"sku"`
	Quantity   int64              `gorm:"not null" json:"quantity"`
	PriceCents int64              `gorm:"not null" json:"priceCents"`
}

// Request stores the result of a POST with an Idempotency-Key, in the transaction that writes the
// order. It has no foreign key, because it stays after the order is deleted: a late repetition
// must not place the order again.
type Request struct {
	Key     string             `gorm:"primaryKey;size:64"` // SHA-256 of the key, so that every database compares it exactly
	Body    string             `gorm:"size:64;not null"`   // SHA-256 of what was asked for
	OrderID sqltype.Key[Order] `gorm:"index;not null"`
	Order   *Order             `gorm:"constraint:-"`
}

func models() []any { return []any{&Order{}, &Line{}, &Request{}} }

// Keys are written with the kind of their row in front, such as ord_1qda147xjq4ad.

// KeyForm is the form of an order's key.
func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// KeyForm is the form of a line's key.
func (*Line) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "line"} }
