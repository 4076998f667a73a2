// Package key names the types of keys, for the schema and for the code that ent generates.
package key

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Order is the key of an order, in JSON such as ord_01hv5z8s1q9m3.
type Order = sqltype.Key[order]

type order struct{}

func (*order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }
