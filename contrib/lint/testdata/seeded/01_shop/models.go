package shop

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Customer struct {
	ID        int64 `gorm:"primaryKey;snowflake"` // FAULT 001 class 1: autoIncrement:false is missing, so MySQL makes it AUTO_INCREMENT; go-gorm/gorm#951
	Name      string
	CreatedAt time.Time
}

type Address struct {
	ID         int64 `gorm:"primaryKey;autoIncrement:false"` // FAULT 002 class 1: the tag snowflake is missing, so the key stays zero; go-gorm/gorm#1527
	CustomerID int64
	Street     string
}

type Product struct {
	ID    uint64 `gorm:"primary_key;auto_increment:false;snowflake"` // FAULT 003 class 1: auto_increment is the spelling of gorm v1, which v2 ignores; go-gorm/gorm#2135
	Title string
	Cents int64
}

// Voucher was copied from a service with auto-increment keys.
type Voucher struct {
	ID        int64 // FAULT 004 class 1: neither autoIncrement:false nor snowflake; go-gorm/gorm#7091
	Code      string
	ProductID uint64
}

type Order struct {
	ID         sqltype.ID // OK 01: a key of this type needs no tag
	CustomerID int64
	Lines      []OrderLine
}

type OrderLine struct {
	ID      int64 `gorm:"primaryKey;autoincrement:false;snowflake"` // OK 02: gorm ignores the case of settings
	OrderID sqltype.ID
	SKU     string
	Pieces  int
}

// Country is filled by a migration.
type Country struct {
	ID   uint   `gorm:"snowflake:-"` // OK 03: the tag says that the key comes from elsewhere
	Code string `gorm:"size:2;uniqueIndex"`
}

// TaxRate has a key from the accounting system.
type TaxRate struct {
	ID      uint // OK 04: setup.go lists the model in Exempt
	Permill int
}

// Profile shares the key of its customer.
type Profile struct {
	CustomerID int64 `gorm:"primaryKey;autoIncrement:false"` // OK 05: the key is a foreign key, which nothing fills
	Customer   Customer
	Bio        string
}

// ProductVoucher joins products and vouchers.
type ProductVoucher struct {
	ProductID uint64  `gorm:"primaryKey"` // OK 06: a join table has the keys of two others
	VoucherID int64   `gorm:"primaryKey"`
	Product   Product `gorm:"foreignKey:ProductID"`
	Voucher   Voucher `gorm:"foreignKey:VoucherID"`
}

type Setting struct {
	Name  string `gorm:"primaryKey;size:64;snowflake:-"` // OK 07: a text that the program sets itself
	Value string
}
