package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Line is a child of an Order.
type Line struct{ ent.Schema }

// Mixin is the key, a sqltype.ID.
func (Line) Mixin() []ent.Mixin { return []ent.Mixin{entkey.Mixin{}} }

// Fields are the other columns. The foreign key is a separate field, with the type of the key,
// so that it can be set without a query.
func (Line) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("order_id").GoType(sqltype.Key[Order](0)).Immutable().StructTag(`json:"orderId"`),
		field.String("sku").NotEmpty().StructTag(`json:"sku"`),
	}
}

// Edges is its parent.
func (Line) Edges() []ent.Edge {
	return []ent.Edge{edge.From("order", Order.Type).Ref("lines").Field("order_id").Unique().Required().Immutable()}
}
