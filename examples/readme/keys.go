package readme

import (
	"net/http"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Ticket struct {
	ID         sqltype.Key[Ticket]     `json:"id"`
	CustomerID sqltype.Key[Customer]   `json:"customerId"`
	ParentID   sqltype.NullKey[Ticket] `json:"parentId"`
}

type Customer struct{ ID sqltype.Key[Customer] }

func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }

func (*Ticket) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "tkt", Old: ticketForms} }

var ticketForms = []sqltype.Form{
	{},              // decimal, also as a JSON number
	{Prefix: "req"}, // an earlier prefix
}

func ticketOf(r *http.Request) (sqltype.Key[Ticket], error) {
	return sqltype.ParseKey[Ticket](r.PathValue("id"))
}
