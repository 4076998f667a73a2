// Package rows reads the rows that gorm is given, and their fields, by reflection.
package rows

import (
	"fmt"
	"reflect"

	"gorm.io/gorm"
)

// Rows are the rows of a create: a struct, a map, or a slice or an array of them or of
// pointers to them. A value of another type, which gorm refuses, has none.
type Rows struct {
	Len   int
	value reflect.Value
	list  bool
}

// Of returns the rows of a value.
func Of(v reflect.Value) Rows {
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		return Rows{Len: 1, value: v}
	case reflect.Slice, reflect.Array:
		return Rows{Len: v.Len(), value: v, list: true}
	}
	return Rows{}
}

// At returns a row, not the pointer to it. It returns the zero Value for a nil pointer.
func (r *Rows) At(i int) reflect.Value {
	if !r.list {
		return r.value
	}
	return Indirect(r.value.Index(i))
}

// Distinct returns the rows without repeated pointers, and whether there were any.
func (r *Rows) Distinct() (reflect.Value, bool) {
	if r.Len < 2 || r.value.Type().Elem().Kind() != reflect.Pointer {
		return r.value, false
	}
	seen, distinct := make(map[uintptr]bool, r.Len), reflect.MakeSlice(reflect.SliceOf(r.value.Type().Elem()), 0, r.Len)
	for i := range r.Len {
		if row := r.value.Index(i); !seen[row.Pointer()] {
			seen[row.Pointer()] = true
			distinct = reflect.Append(distinct, row)
		}
	}
	return distinct, distinct.Len() < r.Len
}

// Check refuses rows on which gorm would panic and leave its transaction open: structs of another
// model, and maps of a type that gorm does not know. gorm refuses nil pointers itself.
func (r *Rows) Check(stmt *gorm.Statement) error {
	switch stmt.Dest.(type) {
	case map[string]any, *map[string]any, []map[string]any, *[]map[string]any:
		for i := range r.Len {
			if r.At(i).IsNil() {
				return fmt.Errorf("row %d is a nil map: %w", i, gorm.ErrInvalidData)
			}
		}
		return nil
	}
	var model reflect.Type
	if stmt.Schema != nil {
		model = stmt.Schema.ModelType
	}
	if r.Len == 0 {
		return nil
	}
	if t := r.value.Type(); t == model || r.list && t.Elem() == model {
		return nil
	}
	for i := range r.Len {
		row := r.At(i)
		if !row.IsValid() || row.Type() == model || model != nil && row.Kind() == reflect.Struct && row.Type().ConvertibleTo(model) { // the same fields under another name
			continue
		}
		return fmt.Errorf("row %d is of type %v: create the model's structs or pointers to them, map[string]any or []map[string]any: %w", i, row.Type(), gorm.ErrInvalidData)
	}
	return nil
}

// AreStructs reports whether all rows are structs that can be set.
func (r *Rows) AreStructs() bool {
	for i := range r.Len {
		if row := r.At(i); row.Kind() != reflect.Struct || !row.CanAddr() {
			return false
		}
	}
	return r.Len > 0
}

// AreMaps reports whether the rows are maps.
func (r *Rows) AreMaps() bool { return r.Len > 0 && r.At(0).Kind() == reflect.Map }

// Indirect follows pointers. It returns the zero Value for a nil pointer.
func Indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// Base returns the type behind pointers.
func Base(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// Field returns a field of a row by gorm's index, in which a negative number is an embedded pointer.
// It returns the zero Value behind a nil one, where gorm's ReflectValueOf would allocate.
func Field(row reflect.Value, index []int) reflect.Value {
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
