// Package schema is the source of examples/ent/db.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order is a parent.
type Order struct{ ent.Schema }

// Mixin is the key, which has its own type.
func (Order) Mixin() []ent.Mixin { return []ent.Mixin{entkey.Typed[Order]{}} }

// KeyForm is the text of the key, such as ord_01hv5z8s1q9m3.
func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// Fields are the other columns.
func (Order) Fields() []ent.Field {
	return []ent.Field{field.String("customer").NotEmpty().StructTag(`json:"customer"`)}
}

// Edges are its children.
func (Order) Edges() []ent.Edge {
	return []ent.Edge{edge.To("lines", Line.Type).StructTag(`json:"lines"`)}
}
