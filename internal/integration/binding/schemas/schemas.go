// Package schemas has rows whose JSON schema the libraries under test make.
package schemas

import "github.com/seed-299c1d6b/snowkey/sqltype"

//go:generate go run ../../../../cmd/snowkey keys --for jsonschema -o jsonschema.go .
//go:generate go run ../../../../cmd/snowkey keys --for invopop -o invopop.go .
//go:generate go run ../../../../cmd/snowkey keys --for kin-openapi -o kinopenapi.go .

// Order is a row with a prefix.
type Order struct {
	ID       sqltype.Key[Order]     `json:"id"`
	ParentID sqltype.NullKey[Order] `json:"parent_id"`
	SkuID    sqltype.ID             `json:"sku_id"`
	GiftID   sqltype.NullID         `json:"gift_id"`
	Others   []sqltype.ID           `json:"others"`
	Origin   *sqltype.Key[Order]    `json:"origin"`
}

// KeyForm is the prefix.
func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }
