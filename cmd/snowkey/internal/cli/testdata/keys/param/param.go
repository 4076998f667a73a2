package param

import "github.com/seed-299c1d6b/snowkey/sqltype"

func f[T any](sqltype.Key[T]) {}
