// Package key names the types of keys for sqlc.yaml, which can name no generic type.
package key

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Line is the key of a line, in JSON such as line_01hv5z8s1q9m3.
type Line = sqltype.Key[line]

type line struct{}

func (*line) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "line"} }
