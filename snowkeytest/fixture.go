package snowkeytest

import "github.com/seed-299c1d6b/snowkey/sqltype"

// ID returns an id for a fixture, which shows n at a glance: ID(42) is 1000000000000000042. n is 0
// to 999,999,999.
//
// Like most ids, it has 19 digits and is too large for a number in JavaScript, so a test with it
// finds code that rounds ids. In Twitter's layout these are ids of 2018-05-25, which no generator
// issues any more. They sort as n does.
func ID(n int64) sqltype.ID { return sqltype.ID(1_000_000_000_000_000_000 + n) }
