package schema

import (
	"path"
	"strings"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// named is a field whose Go type has an alias. ent writes a type as reflection prints it, which is
// not Go for a sqltype.Key[T].
type named struct {
	ent.Field
	alias string // after the path of its package, such as example.org/shop/key.Order
}

// Descriptor describes the field, with the alias as its type.
func (n named) Descriptor() *field.Descriptor {
	d := n.Field.Descriptor()
	i := strings.LastIndexByte(n.alias, '.')
	d.Info.Ident, d.Info.PkgPath = path.Base(n.alias), n.alias[:i]
	d.Info.PkgName, d.Info.RType.Ident = path.Base(d.Info.PkgPath), d.Info.Ident
	return d
}

const orderKey = "github.com/seed-299c1d6b/snowkey/examples/ent/key.Order"
