package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/seed-299c1d6b/snowkey/examples/ent/key"
)

// Line is a child of an Order.
type Line struct{ ent.Schema }

// Mixin is the key.
func (Line) Mixin() []ent.Mixin { return []ent.Mixin{Key{}} }

// Fields are the other columns. The foreign key is a field of its own, with the type of the key,
// so that it can be set without a query.
func (Line) Fields() []ent.Field {
	return []ent.Field{
		named{field.Int64("order_id").GoType(key.Order(0)).Immutable().StructTag(`json:"orderId"`), orderKey},
		field.String("sku").NotEmpty().StructTag(`json:"sku"`),
	}
}

// Edges is its parent.
func (Line) Edges() []ent.Edge {
	return []ent.Edge{edge.From("order", Order.Type).Ref("lines").Field("order_id").Unique().Required().Immutable()}
}

// Indexes has the foreign key: ent makes no index for it.
func (Line) Indexes() []ent.Index {
	return []ent.Index{index.Fields("order_id")}
}
