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

// Fields is the key. Without the annotation ent takes an integer key for one that the
// database counts up, and a row whose key was forgotten gets 1; so it does in SQLite
// where the type is integer, of all words.
func (Key) Fields() []ent.Field {
	counted := false
	return []ent.Field{
		field.Int64("id").GoType(sqltype.ID(0)).Immutable().StructTag(`json:"id"`).
			Annotations(entsql.Annotation{Incremental: &counted}).
			SchemaType(map[string]string{dialect.SQLite: "bigint"}),
	}
}
