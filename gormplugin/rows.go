package gormplugin

import (
	"context"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"
)

// rowsOf are the rows of what is created: a struct, a map, or a slice or an array
// of them or of pointers to them. Of anything else, which gorm refuses, there are none.
type rowsOf struct {
	value reflect.Value
	n     int
	list  bool
	plain bool // a list of structs that can be set, or of pointers to structs
	ptr   bool // of pointers
}

func newRows(v reflect.Value) rowsOf {
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		return rowsOf{value: v, n: 1}
	case reflect.Slice, reflect.Array:
		elem := v.Type().Elem()
		r := rowsOf{value: v, n: v.Len(), list: true, ptr: elem.Kind() == reflect.Pointer}
		if r.ptr {
			r.plain = elem.Elem().Kind() == reflect.Struct
		} else {
			r.plain = elem.Kind() == reflect.Struct && (v.Kind() == reflect.Slice || v.CanAddr())
		}
		return r
	}
	return rowsOf{}
}

// field is a field of a row of a plain list, had with the least of reflection.
func (r *rowsOf) field(i int, path []int) reflect.Value {
	row := r.value.Index(i)
	if r.ptr {
		row = row.Elem()
	}
	for _, index := range path {
		row = row.Field(index)
	}
	return row
}

// at is the row itself, not a pointer to it; the zero Value if that is nil.
func (r rowsOf) at(i int) reflect.Value {
	if !r.list {
		return r.value
	}
	return indirect(r.value.Index(i))
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// find is the field of the row, unless it is in an embedded struct that is nil.
func find(f *schema.Field, row reflect.Value) (reflect.Value, bool) {
	for _, i := range f.StructField.Index {
		if i >= 0 {
			row = row.Field(i)
			continue
		}
		if row = row.Field(-i - 1); row.IsNil() { // gorm's sign for a pointer
			return row, false
		}
		row = row.Elem()
	}
	return row, true
}

// isZero reports whether the row is without a key. It is an error if the row
// then cannot be given one.
func (t *target) isZero(row reflect.Value) (bool, error) {
	if row.Kind() == reflect.Map {
		zero := t.mapIsZero(row.Interface().(map[string]any))
		if zero && t.field != nil {
			return true, t.checkMap()
		}
		return zero, nil
	}
	v, found := find(t.field, row)
	if found && !t.kind.isZero(v) {
		return false, nil
	}
	if !row.CanAddr() && t.source != nil {
		return true, fmt.Errorf("%s cannot be set in a value of type %s: create a pointer to it", t.name, typeName(row.Type()))
	}
	return true, nil
}

// set gives the row its key. A nil embedded struct on the way to it is made.
func (t *target) set(ctx context.Context, row reflect.Value, id int64) {
	if row.Kind() == reflect.Map {
		t.mapSet(row.Interface().(map[string]any), id)
		return
	}
	t.kind.set(t.field.ReflectValueOf(ctx, row), id)
}
