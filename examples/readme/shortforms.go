package readme

import "github.com/seed-299c1d6b/snowkey/sqltype"

func path(id sqltype.ID) string { return "/o/" + id.Base58() } // 11 characters

func orderOf(text string) (sqltype.ID, error) { return sqltype.ParseBase58(text) }
