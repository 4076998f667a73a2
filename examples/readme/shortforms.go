package readme

import "github.com/seed-299c1d6b/snowkey/sqltype"

// path is an order's address in 11 characters, which sort as the ids do.
func path(id sqltype.ID) string { return "/o/" + id.Base58() }

// orderOf reads the id back; what is no id is an error that quotes it.
func orderOf(text string) (sqltype.ID, error) { return sqltype.ParseBase58(text) }
