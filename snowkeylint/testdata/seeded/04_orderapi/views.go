// Package orderapi serves orders as JSON to a browser.
package orderapi

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// order is a row.
type order struct {
	ID         sqltype.ID
	CustomerID sqltype.ID
	ParentID   sqltype.NullID
	Cents      int64
	Placed     time.Time
}

// orderView is what the browser gets.
type orderView struct {
	ID       int64     `json:"id"` // FAULT 020 snowjson: filled from a sqltype.ID, read by a browser; webman-php/admin#96
	Customer int64     `json:"customer,string"`
	Cents    int64     `json:"cents"` // OK 16: an amount, not a key
	Placed   time.Time `json:"placed"`
}

// payment is a row and a view at once.
type payment struct {
	ID     int64  `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id,omitempty"` // FAULT 021 snowjson: a filled key without the option string; https://scene-si.org/2020/08/13/go-and-json-encoding-decoding/
	Method string `json:"method"`
}

// refund belongs to a payment.
type refund struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id,string"`
	PaymentID int64 `gorm:"index" json:"payment_id"` // FAULT 022 snowjson: a foreign key to a Snowflake key as a number; oceanbase/powercontext#91
	Payment   *payment
	Attempts  int64 `json:"attempts"` // OK 17: a count
}

// shipment has its id as text and as a number, as tweets had.
type shipment struct {
	ID      uint64 `json:"id,String"` // FAULT 023 snowjson: the option is string, in lower case; plhery/node-twitter-api-v2#73
	IDText  string `json:"id_str"`
	Carrier string `json:"carrier"`
}

type auditRow struct {
	ID   int64 `json:"-"` // OK 18: not in the JSON
	Note string
}

func viewOf(o *order) orderView {
	return orderView{
		ID:       o.ID.Int64(),
		Customer: int64(o.CustomerID),
		Cents:    o.Cents,
		Placed:   o.Placed,
	}
}

func shipmentOf(o *order, carrier string) shipment {
	return shipment{ID: uint64(o.ID), IDText: o.ID.String(), Carrier: carrier}
}

func auditOf(o *order) auditRow { return auditRow{ID: o.ID.Int64(), Note: o.Placed.String()} }
