package pair

import "github.com/seed-299c1d6b/snowkey/sqltype"

type Pair[T any] struct {
	ID sqltype.Key[Pair[int]]
}
