package forms

import "github.com/seed-299c1d6b/snowkey/sqltype"

type prefixed struct{}

func (prefixed) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "evt"} }

// Event has the form of a struct that it embeds.
type Event struct {
	prefixed // OK 29: a promoted KeyForm works
	ID       sqltype.Key[Event]
}

type Attachment struct {
	ID     sqltype.Key[Attachment]
	Ticket sqltype.NullKey[*Ticket] // FAULT 040 class 13: a pointer in the brackets of a NullKey: the key has not the prefix of Ticket
	Name   string
}

func (a *Attachment) KeyForm(short bool) sqltype.Form { // FAULT 041 class 13: a parameter makes it another method
	if short {
		return sqltype.Form{Prefix: "a"}
	}
	return sqltype.Form{Prefix: "att"}
}

func ticketsOf(list []Attachment) []sqltype.Key[Ticket] {
	var out []sqltype.Key[Ticket]
	for i := range list {
		if t := list[i].Ticket; t.Valid {
			out = append(out, sqltype.Key[Ticket](t.Key))
		}
	}
	return out
}
