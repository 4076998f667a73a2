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

// Key is the key of every table.
type Key struct{ mixin.Schema }

// Fields is the key. The annotation turns off auto-increment: otherwise a row without a key gets 1.
// On SQLite the type integer has the same effect.
func (Key) Fields() []ent.Field {
	counted := false
	return []ent.Field{
		field.Int64("id").GoType(sqltype.ID(0)).Immutable().StructTag(`json:"id"`).
			Annotations(entsql.Annotation{Incremental: &counted}).
			SchemaType(map[string]string{dialect.SQLite: "bigint"}),
	}
}
