package readme

import "github.com/seed-299c1d6b/snowkey/sqltype"

type Order struct {
	ID    sqltype.ID `json:"id"`
	Note  string     `json:"note"`
	Lines []OrderLine
}

type OrderLine struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id,string"`
	OrderID sqltype.ID
	SKU     string
}

type Account struct {
	ID   sqltype.ID `gorm:"check:id > 0"`
	Name string
}
