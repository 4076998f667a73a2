// Package forms declares how the keys of a help desk are written.
package forms

import (
	"errors"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Ticket struct {
	ID       sqltype.Key[Ticket]
	Customer sqltype.Key[*Customer] // FAULT 042 class 13: a pointer in the brackets of a Key: the key has not the prefix of Customer
	Agent    sqltype.Key[Agent]
	Merged   sqltype.NullKey[Ticket]
	Queue    sqltype.Key[queueKind]
	Site     sqltype.Key[Site]
}

// KeyForm has the documented signature.
func (*Ticket) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "tkt"} } // OK 30: the documented form

type Customer struct {
	ID   sqltype.Key[Customer]
	Name string
}

func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }

type Agent struct {
	ID   sqltype.Key[Agent]
	Name string
}

func (*Agent) KeyForm() (sqltype.Form, error) { // FAULT 043 class 13: two results declare nothing
	if agentPrefix == "" {
		return sqltype.Form{}, errors.New("no prefix")
	}
	return sqltype.Form{Prefix: agentPrefix}, nil
}

var agentPrefix = "agt"

type Article struct {
	ID     sqltype.Key[Article]
	Author sqltype.Key[Agent]
}

func (*Article) KeyForm() *sqltype.Form { return &articleForm } // FAULT 044 class 13: a result of type *sqltype.Form declares nothing

var articleForm = sqltype.Form{Prefix: "art", Old: []sqltype.Form{{}}}

type Macro struct{ ID sqltype.Key[Macro] }

func (Macro) KeyForm() string { return "mac" } // FAULT 045 class 13: a result of type string declares nothing

type Site struct{ ID sqltype.Key[Site] }

// KeyForm has a value receiver.
func (Site) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "site"} } // OK 31: costs an allocation, but works

// queueKind stands for a struct of another package.
type queueKind struct{}

// Label is drawn in the browser.
type Label struct {
	Text string
	Form string
}

// KeyForm is the shape of the key on a keyring that the label shows.
func (l Label) KeyForm() string { return l.Form } // OK 32: no Key of a Label exists
