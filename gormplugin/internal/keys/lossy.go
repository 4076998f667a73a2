package keys

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// gorm's setter loses keys without an error: it copies them to foreign keys that are texts as Go
// converts integers, where 65 becomes "A" and every Snowflake id U+FFFD; and it cuts them to
// the bits of a smaller integer or of a float.

// Narrow returns an error if a foreign key is of a number type that cannot hold every id that
// the plugin gives to the key it refers to, and else nil.
func (r *Registry) Narrow(ref *schema.Reference) error {
	from, to := ref.PrimaryKey, ref.ForeignKey
	if from == nil || to == nil || ref.PrimaryValue != "" || to.Serializer != nil {
		return nil
	}
	switch t := rows.Base(to.FieldType); t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Float32, reflect.Float64, reflect.Bool:
	case reflect.Int, reflect.Uint:
		if t.Bits() == 64 {
			return nil
		}
	default:
		return nil
	}
	fields, _ := r.keyFields(from.Schema, "")
	if !slices.ContainsFunc(fields, func(f keyField) bool { return f.Field == from && !f.required }) {
		return nil
	}
	return fmt.Errorf("its type %s cannot hold %s, a key of 63 bits: make the types the same", TypeName(to.FieldType), FieldName(from))
}

// CopiesAsRune reports whether gorm's setter makes a character of a reference. It tries the setter,
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

// A Loss is a relation with a reference whose key gorm would lose.
type Loss struct {
	Relation  *schema.Relationship
	Reference *schema.Reference
	Narrow    error // nil: a text, to which the graph writer copies digits
}

// Err explains the loss.
func (l *Loss) Err() error {
	child, parent := l.Reference.ForeignKey, l.Reference.PrimaryKey
	if l.Narrow != nil {
		return fmt.Errorf("%s: %w", FieldName(child), l.Narrow)
	}
	return fmt.Errorf("%s is of type %s and refers to %s of type %s, which gorm would copy as a character, not as a number: write the rows with graph.Create, or make the types the same",
		FieldName(child), TypeName(child.FieldType), FieldName(parent), TypeName(parent.FieldType))
}

func (r *Registry) losses(s *schema.Schema) (found []Loss) {
	of := &s.Relationships
	for _, rel := range slices.Concat(of.BelongsTo, of.HasOne, of.HasMany, of.Many2Many) {
		for _, ref := range rel.References {
			if narrow := r.Narrow(ref); narrow != nil || CopiesAsRune(ref) {
				found = append(found, Loss{rel, ref, narrow})
			}
		}
	}
	return found
}
