package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Order is a parent.
type Order struct{ ent.Schema }

// Mixin is the key.
func (Order) Mixin() []ent.Mixin { return []ent.Mixin{Key{}} }

// Fields are the other columns.
func (Order) Fields() []ent.Field {
	return []ent.Field{field.String("customer").NotEmpty().StructTag(`json:"customer"`)}
}

// Edges are its children.
func (Order) Edges() []ent.Edge {
	return []ent.Edge{edge.To("lines", Line.Type).StructTag(`json:"lines"`)}
}
