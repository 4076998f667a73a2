// Package kinds has the types of keys of the APIs under test.
package kinds

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Customer has keys with a prefix.
type Customer struct{}

// KeyForm is the prefix.
func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }

// CustomerKey is a name for the generators that cannot write that of a generic type.
type CustomerKey = sqltype.Key[Customer]

// NullCustomerKey is a CustomerKey or NULL.
type NullCustomerKey = sqltype.NullKey[Customer]
