// Package snowtype has types made from ids.
package snowtype

import "github.com/seed-299c1d6b/snowkey/sqltype"

type Order struct{ ID OrderID }

type OrderID sqltype.ID // want `type OrderID has none of the methods of sqltype.ID`

type LineID sqltype.Key[Line] // want `type LineID has none of the methods of sqltype.Key\[Line\]`

type Line struct{ ID LineID }

type Maybe sqltype.NullID // want `type Maybe has none of the methods of sqltype.NullID`

// Printed has a method, so an alias is no fix.
type Printed sqltype.ID // want `type Printed has none of the methods of sqltype.ID`

func (Printed) String() string { return "" }

type Embedding struct {
	sqltype.ID // want `Embedding gets the methods of the sqltype.ID that it embeds`
	Note       string
}

// None of these is a fault.

type Alias = sqltype.Key[Order]

type Wrapper struct{ sqltype.ID }

// patch is never written.
type patch struct {
	sqltype.ID
	Note *string
}

type Complete sqltype.ID

func (c Complete) MarshalText() ([]byte, error) { return sqltype.ID(c).MarshalText() }

// option is a flag.Value.
type option sqltype.ID

func (o option) String() string { return sqltype.ID(o).String() }

func (o *option) Set(text string) (err error) {
	id, err := sqltype.Parse(text)
	*o = option(id)
	return err
}

type Number int64
