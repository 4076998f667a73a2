package keys

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// typeFaults returns what is wrong with the fields of a model that are typed keys. It checks
// each type and each foreign key once.
func typeFaults(s *schema.Schema, checked map[any]bool) (faults []error) {
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
	r := &s.Relationships
	for _, rel := range slices.Concat(r.BelongsTo, r.HasOne, r.HasMany, r.Many2Many) {
		for _, ref := range rel.References {
			if !checked[ref.ForeignKey] {
				checked[ref.ForeignKey] = true
				add(ref.ForeignKey, checkReference(ref))
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
