// Package snowstring has the option string on ids.
package snowstring

import "github.com/seed-299c1d6b/snowkey/sqltype"

type Order struct {
	ID     sqltype.ID             `json:"id,string"`                   // want `a sqltype.ID is a string in JSON by itself`
	Parent *sqltype.ID            `json:"parent,omitempty,string"`     // want `is a string in JSON by itself`
	Line   sqltype.Key[Order]     `json:"line,string,omitzero" db:"l"` // want `is a string in JSON by itself`
	Maybe  sqltype.NullKey[Order] `json:",string"`                     // want `is a string in JSON by itself`
	Good   sqltype.ID             `json:"string,omitempty"`
	Number int64                  `json:"number,string"`
}
