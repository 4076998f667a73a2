package keys

import (
	"cmp"
	"database/sql"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/sqltype"
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

// checkCopy returns an error if a foreign key cannot hold a key that the plugin fills. gorm would
// convert the integer to a string as Go does, to U+FFFD, or cut it to the bits of a smaller number.
func (r *Registry) checkCopy(ref *schema.Reference) error {
	from, to := ref.PrimaryKey, ref.ForeignKey
	t := rows.Base(to.FieldType)
	var lossy bool
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Float32, reflect.Float64, reflect.Bool:
		lossy = true
	case reflect.Int, reflect.Uint:
		lossy = t.Bits() < 64
	case reflect.String:
		own := rows.Base(from.FieldType) // gorm formats a builtin integer
		lossy = (rows.IsInteger(own) && isDefined(own) || rows.IsNull(own)) && !reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
	}
	if !lossy || to.Serializer != nil || !r.fills(from) {
		return nil
	}
	return fmt.Errorf("%s: its type %s cannot hold %s of type %s: make the types the same",
		FieldName(to), TypeName(to.FieldType), FieldName(from), TypeName(from.FieldType))
}

// fills reports whether the plugin fills a field of a model.
func (r *Registry) fills(f *schema.Field) bool {
	fields, _ := r.keyFields(f.Schema, "")
	return slices.ContainsFunc(fields, func(known keyField) bool { return known.Field == f && !known.required })
}

// typeFaults returns the faults of a model's typed keys and foreign keys. It checks each type and
// each foreign key once.
func (r *Registry) typeFaults(s *schema.Schema, dialect string, checked map[any]bool) (faults []error) {
	for _, f := range s.Fields {
		if t := f.IndirectFieldType; rows.IsKey(t) && !checked[t] {
			checked[t] = true
			if err := checkForm(f); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", FieldName(f), err))
			}
		}
	}
	for _, ref := range references(s) {
		if checked[ref.ForeignKey] {
			continue
		}
		checked[ref.ForeignKey] = true
		if err := cmp.Or(r.checkCopy(ref), r.checkForeignColumn(ref, dialect), checkForeignType(ref)); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// checkForm checks the Form of a field of type Key or NullKey. Else a wrong Form fails only when a
// key is written as text.
func checkForm(f *schema.Field) error {
	model, ok := reflect.New(f.Schema.ModelType).Interface().(interface{ KeyForm() sqltype.Form })
	if ok && f.PrimaryKey {
		if err := model.KeyForm().Check(); err != nil {
			return err
		}
	}
	key := reflect.New(f.IndirectFieldType).Elem()
	if rows.IsNull(key.Type()) {
		nullable.set(key, 1)
	}
	_, err := key.Interface().(encoding.TextMarshaler).MarshalText()
	if errors.Is(err, sqltype.ErrForm) {
		return err
	}
	return nil
}

// checkForeignColumn returns an error if a foreign key's column is too small for a key that the
// plugin fills. A database that is not strict would cut the key.
func (r *Registry) checkForeignColumn(ref *schema.Reference, dialect string) error {
	from, to := ref.PrimaryKey, ref.ForeignKey
	small := tooNarrow(strings.ToLower(to.TagSettings["TYPE"]), signed, dialect) || to.Size < 64 && (to.DataType == schema.Int || to.DataType == schema.Uint)
	if t := from.IndirectFieldType; !small || !rows.IsInteger(t) && !rows.IsNull(t) || !r.fills(from) {
		return nil
	}
	return fmt.Errorf("%s: the gorm tag %q makes its column too small for %s, a key of 63 bits: say bigint, or leave the type out",
		FieldName(to), to.Tag.Get("gorm"), FieldName(from))
}

// checkForeignType refuses a foreign key with the type of another table's keys: gorm converts it.
// A foreign key that is also the row's own key may have another type.
func checkForeignType(ref *schema.Reference) error {
	from, to := ref.PrimaryKey, ref.ForeignKey
	own, other := keyType(to), keyType(from)
	if to.PrimaryKey || own == nil || other == nil || own == other {
		return nil
	}
	return fmt.Errorf("%s: its type is %s, and it refers to %s of type %s: make the types the same, or use sqltype.ID",
		FieldName(to), TypeName(to.IndirectFieldType), FieldName(from), TypeName(from.IndirectFieldType))
}

// keyType returns the type Key[T] of a field that is a Key[T] or a NullKey[T], and else nil.
func keyType(f *schema.Field) reflect.Type {
	switch t := f.IndirectFieldType; {
	case !rows.IsKey(t):
		return nil
	case rows.IsNull(t):
		return t.Field(0).Type
	default:
		return t
	}
}
