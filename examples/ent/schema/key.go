// Package schema is what ent's generator makes examples/ent/db from.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/mixin"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Key is the key that every table has.
type Key struct{ mixin.Schema }

// Fields is the key. The annotation keeps the database from counting it up: without it a
// row whose key was forgotten gets 1. In SQLite the type integer alone would do so, too.
func (Key) Fields() []ent.Field {
	counted := false
	return []ent.Field{
		field.Int64("id").GoType(sqltype.ID(0)).Immutable().StructTag(`json:"id"`).
			Annotations(entsql.Annotation{Incremental: &counted}).
			SchemaType(map[string]string{dialect.SQLite: "bigint"}),
	}
}
