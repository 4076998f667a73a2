package universe

import "github.com/seed-299c1d6b/snowkey/sqltype"

var _ sqltype.Key[error]
