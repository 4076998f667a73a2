package keys

import (
	"cmp"
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

// typeFaults returns what is wrong with the typed keys and the foreign keys of a model. It
// checks each type and each foreign key once.
func (r *Registry) typeFaults(s *schema.Schema, database string, checked map[any]bool) (faults []error) {
	add := func(f *schema.Field, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", FieldName(f), err))
		}
	}
	for _, f := range s.Fields {
		if t := f.IndirectFieldType; rows.IsKey(t) && !checked[t] {
			checked[t] = true
			add(f, checkForm(f))
		}
	}
	of := &s.Relationships
	for _, rel := range slices.Concat(of.BelongsTo, of.HasOne, of.HasMany, of.Many2Many) {
		for _, ref := range rel.References {
			if !checked[ref.ForeignKey] {
				checked[ref.ForeignKey] = true
				add(ref.ForeignKey, cmp.Or(r.Narrow(ref), r.narrowColumn(ref, database), checkReference(ref)))
			}
		}
	}
	return faults
}

// checkForm returns what is wrong with the Form of a field's type, which is a Key or a NullKey.
// A wrong Form fails only when a key is written as text.
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

// checkReference returns whether a foreign key has the type of another table's keys: gorm
// converts it. A row that has the key of another as its own may have a type of its own.
func checkReference(ref *schema.Reference) error {
	from, to := ref.PrimaryKey, ref.ForeignKey
	if from == nil || to.PrimaryKey {
		return nil
	}
	own, other := keyType(to), keyType(from)
	if own == nil || other == nil || own == other {
		return nil
	}
	return fmt.Errorf("its type is %s, and it refers to %s of type %s: make the types the same, or use sqltype.ID",
		TypeName(to.IndirectFieldType), FieldName(from), TypeName(from.IndirectFieldType))
}

// narrowColumn returns an error if the column of a foreign key that refers to a key of the
// plugin's is too small. A database that is not strict would cut the key.
func (r *Registry) narrowColumn(ref *schema.Reference, database string) error {
	to := ref.ForeignKey
	if ref.PrimaryKey == nil || ref.PrimaryValue != "" || r.SoleInteger(ref.PrimaryKey.Schema) != ref.PrimaryKey {
		return nil
	}
	number := to.DataType == schema.Int || to.DataType == schema.Uint
	if tooNarrow(strings.ToLower(to.TagSettings["TYPE"]), signed, database) || number && to.Size < 64 {
		return fmt.Errorf("the gorm tag %q makes its column too small for %s, a key of 63 bits: say bigint, or nothing", to.Tag.Get("gorm"), FieldName(ref.PrimaryKey))
	}
	return nil
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
