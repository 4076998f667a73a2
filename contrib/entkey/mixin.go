package entkey

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/mixin"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Mixin adds the field "id", a sqltype.ID.
type Mixin struct{ mixin.Schema }

// Fields returns the field "id".
func (Mixin) Fields() []ent.Field { return []ent.Field{idField(sqltype.ID(0))} }

// Typed adds the field "id", a sqltype.Key[T]. T is usually the schema itself, and has the method
// KeyForm if the keys have a prefix or are sealed. T must be exported, because the generated code
// imports its package. That package must not import the generated code; if your schema does,
// declare T in another package.
//
// Generate the code with package extension.
type Typed[T any] struct{ mixin.Schema }

// Fields returns the field "id".
func (Typed[T]) Fields() []ent.Field { return []ent.Field{idField(sqltype.Key[T](0))} }

// idField is a key of the type. Without the annotation the database would number the rows, and on
// SQLite so would a column of the type integer. The other databases need the type of the column for
// package extension, which hides from ent that the key is a number. Without the tag, ent omits a zero
// key from JSON.
func idField(key any) ent.Field {
	counted := false
	return field.Int64("id").GoType(key).Immutable().StructTag(`json:"id"`).
		Annotations(entsql.Annotation{Incremental: &counted}).
		SchemaType(map[string]string{dialect.Postgres: "bigint", dialect.MySQL: "bigint", dialect.SQLite: "bigint"})
}
