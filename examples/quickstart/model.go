package main

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Customer has an int64 key. The tags make it a snowflake in place of an auto-increment key, and
// a string in JSON.
type Customer struct {
	ID    int64  `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id,string"`
	Email string `gorm:"size:190;uniqueIndex" json:"email"`
	Name  string `gorm:"size:190" json:"name"`
}

// Order has a key of type sqltype.ID, which needs no tag.
type Order struct {
	ID         sqltype.ID  `json:"id"`
	Number     string      `gorm:"size:64;uniqueIndex" json:"number"`
	CustomerID int64       `gorm:"index" json:"customerId,string"`
	Customer   *Customer   `json:"customer,omitempty"`
	PlacedAt   time.Time   `json:"placedAt"`
	Lines      []OrderLine `json:"lines,omitempty"`
}

// OrderLine is a child of an Order.
type OrderLine struct {
	ID        sqltype.ID `json:"id"`
	OrderID   sqltype.ID `gorm:"index;not null" json:"orderId"`
	Position  int        `json:"position"`
	SKU       string     `gorm:"size:64" json:"sku"`
	Product   string     `gorm:"size:190" json:"product"`
	Quantity  int64      `json:"quantity"`
	UnitPrice int64      `json:"unitPriceCents"`
}
