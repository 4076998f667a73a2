package main

import (
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// payments writes the serials of all payments: PAY-20261121073045123-0001-0000-17. Its Width
// is the size of the column below.
var payments = mustCodec(serial.Config{Prefix: "PAY", Separator: "-", Check: true})

// mustCodec is for constant configurations: the program does not start with a wrong one.
func mustCodec(cfg serial.Config) *serial.Codec {
	codec, err := serial.New(cfg)
	if err != nil {
		panic(err)
	}
	return codec
}

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
	p.Serial, err = payments.Encode(p.ID.Int64())
	return err
}

// Invoice is numbered by day, without gaps.
type Invoice struct {
	ID     sqltype.ID
	Number string `gorm:"size:19;uniqueIndex;not null"`
	Cents  int64  `gorm:"check:cents > 0"`
}

// invoiceNumbers describes them: INV-20261121-000001.
func invoiceNumbers(c serial.Counter, now func() time.Time) serial.NumbersConfig {
	return serial.NumbersConfig{Prefix: "INV", Separator: "-", Counter: c, Now: now}
}
