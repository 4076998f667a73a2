// Package schema is the source of package db.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order has a key with its own type.
type Order struct{ ent.Schema }

// Mixin is the key.
func (Order) Mixin() []ent.Mixin { return []ent.Mixin{entkey.Typed[shop.Order]{}} }

// Fields are the other columns. One foreign key has an edge, the other is only a number.
func (Order) Fields() []ent.Field {
	return []ent.Field{
		field.String("number").MaxLen(40).Unique(),
		field.String("customer"),
		field.Int64("parent_id").GoType(sqltype.Key[shop.Order](0)).Optional().Nillable().StructTag(`json:"parent_id"`),
		field.Int64("replaces_id").GoType(sqltype.NullKey[shop.Order]{}).Optional(),
	}
}

// Edges are its lines, and the order that it belongs to.
func (Order) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("lines", Line.Type),
		edge.To("parts", Order.Type).From("parent").Field("parent_id").Unique(),
		edge.To("similar", Order.Type),
	}
}

// Line is a child. Its key has no type of its own.
type Line struct{ ent.Schema }

// Annotations are the table's name.
func (Line) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Table("order_lines")}
}

// Mixin is the key.
func (Line) Mixin() []ent.Mixin { return []ent.Mixin{entkey.Mixin{}} }

// Fields are the other columns.
func (Line) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("order_id").GoType(sqltype.Key[shop.Order](0)),
		field.String("sku"),
	}
}

// Edges are its order, and labels, whose foreign key is no field.
func (Line) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("order", Order.Type).Ref("lines").Field("order_id").Unique().Required(),
		edge.To("labels", Label.Type),
	}
}

// Label is a row whose key the database counts.
type Label struct{ ent.Schema }

// Fields are the columns.
func (Label) Fields() []ent.Field { return []ent.Field{field.String("text")} }

// List is a row with an array of keys, which only PostgreSQL has.
type List struct{ ent.Schema }

// Mixin is the key.
func (List) Mixin() []ent.Mixin { return []ent.Mixin{entkey.Mixin{}} }

// Fields are the columns.
func (List) Fields() []ent.Field {
	return []ent.Field{field.Other("ids", shop.IDs{}).SchemaType(map[string]string{
		dialect.Postgres: "bigint[]", dialect.MySQL: "text", dialect.SQLite: "text",
	})}
}
