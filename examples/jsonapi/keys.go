package main

import "github.com/seed-299c1d6b/snowkey/sqltype"

// KeyForm writes an order's key as ord_1qda147xjq4ad. Before, keys were written in decimal: links
// that people have stored are still read.
func (*Order) KeyForm() sqltype.Form {
	return sqltype.Form{Prefix: "ord", Accept: sqltype.AcceptDecimal}
}

// KeyForm writes a line's key as line_1qda147xjq4ae.
func (*Line) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "line"} }

// KeyForm writes a customer's key as cus_1qda147xjq4af.
func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }
