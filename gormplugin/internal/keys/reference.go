package keys

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// references returns the foreign keys in a model's relations, with the keys that gorm copies to them.
func references(s *schema.Schema) (refs []*schema.Reference) {
	of := &s.Relationships
	for _, rel := range slices.Concat(of.BelongsTo, of.HasOne, of.HasMany, of.Many2Many) {
		for _, ref := range rel.References {
			if ref.PrimaryKey != nil && ref.PrimaryValue == "" {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// checkReference returns an error if a foreign key or its column cannot hold a key that the plugin fills, or
// if it has the type of another table's keys, unless it is also the row's own key.
func (r *Registry) checkReference(ref *schema.Reference, dialect string) error {
	from, to := ref.PrimaryKey, ref.ForeignKey
	fills, isNumber := r.fills(from), rows.IsInteger(from.IndirectFieldType) || rows.IsNull(from.IndirectFieldType)
	own, other := typedKey(to), typedKey(from)
	switch {
	case fills && to.Serializer == nil && losesKey(from.FieldType, to.FieldType):
		return fmt.Errorf("%s: its type %s cannot hold %s of type %s: make the types the same",
			FieldName(to), TypeName(to.FieldType), FieldName(from), TypeName(from.FieldType))
	case !to.PrimaryKey && own != nil && other != nil && own != other:
		return fmt.Errorf("%s: its type is %s, and it refers to %s of type %s: make the types the same, or use sqltype.ID",
			FieldName(to), TypeName(to.IndirectFieldType), FieldName(from), TypeName(from.IndirectFieldType))
	case fills && isNumber && isTooSmall(to, signed, dialect):
		return fmt.Errorf("%s: the gorm tag %q makes its column too small for %s, a key of 63 bits: say bigint, or leave the type out",
			FieldName(to), to.Tag.Get("gorm"), FieldName(from))
	}
	return nil
}

// losesKey reports whether gorm loses a key when it copies it to a foreign key: it would convert the
// integer to a string as Go does, to U+FFFD, or cut it to the bits of a smaller number.
func losesKey(from, to reflect.Type) bool {
	switch to = rows.Base(to); to.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Float32, reflect.Float64, reflect.Bool:
		return true
	case reflect.Int, reflect.Uint:
		return to.Bits() < 64
	case reflect.String:
		from = rows.Base(from) // gorm formats a builtin integer
		return (rows.IsInteger(from) && isDefined(from) || rows.IsNull(from)) && !reflect.PointerTo(to).Implements(reflect.TypeFor[sql.Scanner]())
	}
	return false
}

// fills reports whether the plugin fills a field of a model.
func (r *Registry) fills(f *schema.Field) bool {
	fields, _ := r.keyFields(f.Schema, "")
	return slices.ContainsFunc(fields, func(known keyField) bool { return known.Field == f && !known.required })
}

// typedKey returns the type Key[T] of a field that is a Key[T] or a NullKey[T], and else nil.
func typedKey(f *schema.Field) reflect.Type {
	switch t := f.IndirectFieldType; {
	case !rows.IsKey(t):
		return nil
	case rows.IsNull(t):
		return t.Field(0).Type
	default:
		return t
	}
}

// isDefined reports whether the type is defined in a package, as in type OrderID int64.
func isDefined(t reflect.Type) bool { return t.PkgPath() != "" }
