package driver

import "strings"

// GeneratorClaim is the prefix of the claim ID of a worker ID that a generator in SQL holds: see
// ddl.Generator. Its record never expires, and its fence is the end of the layout's time. So no
// build of this module claims it, even after [Admin.Free].
const GeneratorClaim = "sql-generator:"

// OfGenerator reports whether a generator in SQL holds the worker ID. Do not free it. Drop the
// generator, which releases it.
func (rec Record) OfGenerator() bool { return strings.HasPrefix(rec.ClaimID, GeneratorClaim) }
