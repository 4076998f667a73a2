// Package snowform has keys that are decimal by mistake.
package snowform

import "github.com/seed-299c1d6b/snowkey/sqltype"

type Order struct{ ID sqltype.Key[Order] }

func (*Order) KeyForm() (sqltype.Form, error) { // want `KeyForm\(\) \(sqltype.Form, error\) has no effect, so keys of Order are decimal`
	return sqltype.Form{Prefix: "ord"}, nil
}

type Line struct{ ID sqltype.Key[Line] }

func (*Line) KeyForm() string { return "lin" } // want `KeyForm\(\) string has no effect, so keys of Line are decimal`

type Part struct{ ID sqltype.Key[Part] }

func (*Part) Keyform() sqltype.Form { return sqltype.Form{Prefix: "prt"} } // want `the method must be called KeyForm`

type Kind struct {
	ID   sqltype.Key[Kind]
	Name string
}

func (k *Kind) KeyForm() sqltype.Form { return sqltype.Form{Prefix: k.Name} } // want `k is nil or empty when KeyForm is called`

type Upper struct{ ID sqltype.Key[Upper] }

func (*Upper) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "Upper"} } // want `the prefix "Upper" is invalid`

type Good struct {
	ID     sqltype.Key[Good]
	Parent sqltype.NullKey[*Good] // want `NullKey\[\*Good\] does not have the form of Good`
	Other  sqltype.Key[*Good]     // want `Key\[\*Good\] does not have the form of Good`
}

func (*Good) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "good"} }

func read(text string) (any, error) {
	return sqltype.ParseKey[*Good](text) // want `ParseKey\[\*Good\] does not have the form of Good`
}

// Label has a method of its own, and no keys.
type Label struct{}

func (Label) KeyForm() string { return "round" }
