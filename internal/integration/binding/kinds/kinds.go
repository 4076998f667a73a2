// Package kinds has the types of keys of the APIs under test.
package kinds

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Customer has keys with a prefix.
type Customer struct{}

// KeyForm is the prefix.
func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }

//go:generate go run ../../../../cmd/snowkey keys -o keys.go .
var _ sqltype.Key[Customer]
