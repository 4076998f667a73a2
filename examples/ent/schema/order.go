package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Order is a master.
type Order struct{ ent.Schema }

// Mixin gives it its key.
func (Order) Mixin() []ent.Mixin { return []ent.Mixin{Key{}} }

// Fields are its columns but the key.
func (Order) Fields() []ent.Field {
	return []ent.Field{field.String("customer").NotEmpty().StructTag(`json:"customer"`)}
}

// Edges are its details.
func (Order) Edges() []ent.Edge {
	return []ent.Edge{edge.To("lines", Line.Type).StructTag(`json:"lines"`)}
}
