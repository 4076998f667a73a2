// Package schema is the source of examples/ent/db.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/mixin"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Key is the key of a table, a sqltype.ID.
type Key struct{ mixin.Schema }

// Fields is the key.
func (Key) Fields() []ent.Field { return []ent.Field{idField(sqltype.ID(0))} }

// idField is a key of the type. The annotation turns off auto-increment: otherwise a row without a
// key gets 1. On SQLite the type integer has the same effect.
func idField(keyType any) ent.Field {
	counted := false
	return field.Int64("id").GoType(keyType).Immutable().StructTag(`json:"id"`).
		Annotations(entsql.Annotation{Incremental: &counted}).
		SchemaType(map[string]string{dialect.SQLite: "bigint"})
}
