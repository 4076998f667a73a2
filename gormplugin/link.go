package gormplugin

import (
	"context"
	"reflect"

	"gorm.io/gorm/schema"
)

// link copies one column of a reference.
type link struct {
	from  *schema.Field // nil: the constant
	value string
	to    *schema.Field
	late  bool // from is made by the database
	text  bool // to is to hold from's digits
}

// fieldAt is the field's value, or the zero Value behind a nil embedded pointer.
// gorm's ReflectValueOf would make what the pointer points to.
func fieldAt(row reflect.Value, index []int) reflect.Value {
	for i, x := range index {
		if x >= 0 {
			row = row.Field(x)
			continue
		}
		row = row.Field(-x - 1)
		if i < len(index)-1 {
			if row.IsNil() {
				return reflect.Value{}
			}
			row = row.Elem()
		}
	}
	return row
}

// copy sets the child's column to what the parent's holds.
func (l *link) copy(ctx context.Context, parent, child reflect.Value, log *undoLog) error {
	if l.from == nil {
		leaf := l.to.ReflectValueOf(ctx, child)
		if leaf.Kind() == reflect.String && leaf.String() == l.value {
			return nil
		}
		log.save(leaf)
		return l.to.Set(ctx, child, l.value)
	}
	from := fieldAt(parent, l.from.StructField.Index)
	if l.late && (!from.IsValid() || from.IsZero()) {
		return nil
	}
	leaf := l.to.ReflectValueOf(ctx, child)
	if id, ok := integer(from); ok && isInteger(leaf.Type()) {
		if now, ok := integer(leaf); ok && now == id {
			return nil
		}
		log.save(leaf)
		if leaf.Kind() == reflect.Pointer {
			// A new one: what it pointed to may be another row's.
			leaf.Set(reflect.New(leaf.Type().Elem()))
			leaf = leaf.Elem()
		}
		if leaf.CanInt() {
			leaf.SetInt(id)
		} else {
			leaf.SetUint(uint64(id))
		}
		return nil
	}
	if l.text {
		if text, ok := digits(from); ok {
			setText(leaf, text, log)
			return nil
		}
	}
	value, _ := l.from.ValueOf(ctx, parent)
	log.save(leaf)
	if leaf.Kind() == reflect.Pointer {
		leaf.SetZero()
	}
	if err := l.to.Set(ctx, child, value); err != nil {
		return err
	}
	log.dropIfSame()
	return nil
}

// isInteger reports whether the type is one of 64 bits, or a pointer to one.
func isInteger(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Uint64:
		return true
	case reflect.Int, reflect.Uint:
		return t.Bits() == 64
	}
	return false
}

func integer(v reflect.Value) (int64, bool) {
	if !v.IsValid() || !isInteger(v.Type()) {
		return 0, false
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0, false
		}
		v = v.Elem()
	}
	if v.CanInt() {
		return v.Int(), true
	}
	return int64(v.Uint()), true
}
