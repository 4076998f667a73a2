package main

import (
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// payments encodes ids as PAY-20261121073045123-0001-0000-17. Its Width is the size of the column
// below.
var payments = mustCodec(serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97})

// mustCodec is for constant configurations.
func mustCodec(cfg serial.Config) *serial.Codec {
	codec, err := serial.New(cfg)
	if err != nil {
		panic(err)
	}
	return codec
}

// Payment stores its serial number for people who read the table. A program decodes it to the id.
type Payment struct {
	ID     sqltype.ID
	Serial string `gorm:"type:char(34);uniqueIndex;not null"`
	Cents  int64
}

// BeforeCreate sets the serial number. The plugin has set the id before.
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

// invoiceNumbers configures INV-20261121-000001.
func invoiceNumbers(c serial.Counter, now func() time.Time) serial.NumbersConfig {
	return serial.NumbersConfig{Prefix: "INV", Separator: "-", Counter: c, Now: now}
}
