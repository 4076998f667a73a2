package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Line is a detail.
type Line struct{ ent.Schema }

// Mixin gives it its key.
func (Line) Mixin() []ent.Mixin { return []ent.Mixin{Key{}} }

// Fields are its columns but the key. The foreign key is a field of its own, so that it
// can be set without a query; its type is that of the key it refers to.
func (Line) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("order_id").GoType(sqltype.ID(0)).Immutable().StructTag(`json:"orderId"`),
		field.String("sku").NotEmpty().StructTag(`json:"sku"`),
	}
}

// Edges is its master.
func (Line) Edges() []ent.Edge {
	return []ent.Edge{edge.From("order", Order.Type).Ref("lines").Field("order_id").Unique().Required().Immutable()}
}

// Indexes is one over the foreign key: ent makes none by itself.
func (Line) Indexes() []ent.Index {
	return []ent.Index{index.Fields("order_id")}
}
