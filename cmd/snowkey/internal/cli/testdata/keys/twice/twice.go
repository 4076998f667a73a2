package twice

import "github.com/seed-299c1d6b/snowkey/sqltype"

type (
	Order struct{ ID sqltype.Key[Order] }
	order struct{ ID sqltype.Key[order] }
)
