package local

import "github.com/seed-299c1d6b/snowkey/sqltype"

func f() {
	type row struct{}
	var _ sqltype.Key[row]
}
