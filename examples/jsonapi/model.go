package main

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order is a master. Its key is a snowflake by its type, and a string in JSON.
// When it was placed is in the key: there is no column for it.
type Order struct {
	ID         sqltype.ID  `json:"id"`
	PlacedAt   time.Time   `gorm:"-" json:"placedAt"`
	ReorderOf  *sqltype.ID `json:"reorderOf,omitempty"` // the order that this one repeats
	Customer   string      `gorm:"size:190;not null" json:"customer"`
	Note       string      `gorm:"size:1000;not null" json:"note"`
	TotalCents int64       `gorm:"-" json:"totalCents"`
	Version    int64       `gorm:"not null" json:"-"` // counts changes; the ETag
	Lines      []Line      `gorm:"constraint:OnDelete:CASCADE" json:"lines"`
}

// Line is a detail. The keys of an order and its lines come from one reservation,
// so the order of the keys is the order of the lines.
type Line struct {
	ID         sqltype.ID `json:"id"`
	OrderID    sqltype.ID `gorm:"index;not null" json:"orderId"`
	SKU        string     `gorm:"size:64;not null" json:"sku"`
	Quantity   int64      `gorm:"not null" json:"quantity"`
	PriceCents int64      `gorm:"not null" json:"priceCents"`
}

// Request remembers what came of a POST with an Idempotency-Key. It is written in
// the order's own transaction: neither is there without the other. It has no
// foreign key, for it must outlive an order that is deleted: a late repetition
// must not place that again.
type Request struct {
	Key     string     `gorm:"primaryKey;size:64"` // SHA-256 of the key, so that every database compares it exactly
	Body    string     `gorm:"size:64;not null"`   // SHA-256 of what was asked for
	OrderID sqltype.ID `gorm:"index;not null"`
	Order   *Order     `gorm:"constraint:-"`
}

func models() []any { return []any{&Order{}, &Line{}, &Request{}} }
