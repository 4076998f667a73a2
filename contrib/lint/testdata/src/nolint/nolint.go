// Package nolint has faults that comments allow.
package nolint

import "github.com/seed-299c1d6b/snowkey/sqltype"

type A sqltype.ID //nolint:snowkeylint // kept for the old API

type B sqltype.ID //nolint:errcheck,snowtype // kept for the old API

// nolint // everything
type C sqltype.ID

//nolint:snowtype // the whole group
type (
	D sqltype.ID
	E sqltype.ID
)

type F sqltype.ID //nolint:snowjson // another rule // want `type F has none of the methods`

//nolint:errcheck // another linter
type G sqltype.ID // want `type G has none of the methods`
