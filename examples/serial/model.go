package main

import (
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// paymentSerial is the form of all payments' serials: PAY-20261121073045123-0001-0000-17.
// Its Width is the size of the column below.
var paymentSerial = serial.Format{Prefix: "PAY", Separator: "-", Check: true}

// Payment has its serial in a column, for people who look into the table. A program
// needs none: it reads the id from the serial.
type Payment struct {
	ID     sqltype.ID
	Serial string `gorm:"type:char(34);uniqueIndex;not null"`
	Cents  int64
}

// BeforeCreate fills the serial from the id, which the plugin has set before it
// calls this hook.
func (p *Payment) BeforeCreate(*gorm.DB) (err error) {
	p.Serial, err = paymentSerial.Encode(p.ID.Int64())
	return err
}

// Invoice is numbered by day, without gaps.
type Invoice struct {
	ID     sqltype.ID
	Number string `gorm:"size:19;uniqueIndex;not null"`
	Cents  int64  `gorm:"check:cents > 0"`
}

// invoiceNumbers describes them: INV-20261121-000001.
func invoiceNumbers(c serial.Counter, now func() time.Time) serial.Numbering {
	return serial.Numbering{Prefix: "INV", Separator: "-", Counter: c, Now: now}
}
