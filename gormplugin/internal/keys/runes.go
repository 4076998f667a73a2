package keys

import (
	"context"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// gorm copies keys of most integer types to foreign keys that are texts as Go converts them:
// 65 becomes "A", and every Snowflake id U+FFFD.

// CopiesAsRune reports whether gorm's setter does that to a reference. It tries the setter,
// because its rules are many.
func CopiesAsRune(ref *schema.Reference) bool {
	from, to := ref.PrimaryKey, ref.ForeignKey
	if from == nil || to == nil || ref.PrimaryValue != "" || from.Serializer != nil || to.Serializer != nil {
		return false
	}
	if rows.Base(to.FieldType).Kind() != reflect.String {
		return false
	}
	if _, ok := rows.Digits(reflect.Zero(rows.Base(from.FieldType))); !ok && !rows.IsNull(rows.Base(from.FieldType)) {
		return false
	}
	const bell = 7
	ctx := context.Background()
	parent, child := reflect.New(from.Schema.ModelType).Elem(), reflect.New(to.Schema.ModelType).Elem()
	if from.Set(ctx, parent, int64(bell)) != nil {
		return false
	}
	value, _ := from.ValueOf(ctx, parent)
	if to.Set(ctx, child, value) != nil {
		return false
	}
	leaf := rows.Indirect(to.ReflectValueOf(ctx, child))
	return leaf.IsValid() && leaf.String() == string(rune(bell))
}

// RuneCopy is a relation with such a reference.
type RuneCopy struct {
	Relation  *schema.Relationship
	Reference *schema.Reference
}

func runeCopies(s *schema.Schema) (found []RuneCopy) {
	r := &s.Relationships
	for _, rel := range slices.Concat(r.BelongsTo, r.HasOne, r.HasMany, r.Many2Many) {
		if i := slices.IndexFunc(rel.References, CopiesAsRune); i >= 0 {
			found = append(found, RuneCopy{rel, rel.References[i]})
		}
	}
	return found
}
