package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"

	"github.com/seed-299c1d6b/snowkey/examples/ent/key"
)

// Order is a parent.
type Order struct{ ent.Schema }

// Fields are the columns. The key has a type of its own.
func (Order) Fields() []ent.Field {
	return []ent.Field{
		named{idField(key.Order(0)), orderKey},
		field.String("customer").NotEmpty().StructTag(`json:"customer"`),
	}
}

// Edges are its children.
func (Order) Edges() []ent.Edge {
	return []ent.Edge{edge.To("lines", Line.Type).StructTag(`json:"lines"`)}
}
