// Package rows reads the rows that gorm is given, and their fields, by reflection.
package rows

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
)

// List returns the rows of a create, without the pointers to them: a struct or a map, or the elements of a
// slice or an array. A nil pointer is the zero Value. A value of another type, which gorm refuses, has
// none.
func List(v reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		return []reflect.Value{v}
	case reflect.Slice, reflect.Array:
		list := make([]reflect.Value, v.Len())
		for i := range list {
			list[i] = Indirect(v.Index(i))
		}
		return list
	}
	return nil
}

// Distinct returns a slice without repeated pointers, and whether there were any.
func Distinct(v reflect.Value) (reflect.Value, bool) {
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array || v.Type().Elem().Kind() != reflect.Pointer {
		return v, false
	}
	seen, distinct := make(map[uintptr]bool, v.Len()), reflect.MakeSlice(reflect.SliceOf(v.Type().Elem()), 0, v.Len())
	for i := range v.Len() {
		if row := v.Index(i); !seen[row.Pointer()] {
			seen[row.Pointer()] = true
			distinct = reflect.Append(distinct, row)
		}
	}
	return distinct, distinct.Len() < v.Len()
}

// Check refuses rows on which gorm would panic and leave its transaction open: structs of another
// model, and maps of a type that gorm does not know. gorm refuses nil pointers itself.
func Check(stmt *gorm.Statement, list []reflect.Value) error {
	var model reflect.Type
	if stmt.Schema != nil {
		model = stmt.Schema.ModelType
	}
	areMaps := false
	switch stmt.Dest.(type) {
	case map[string]any, *map[string]any, []map[string]any, *[]map[string]any:
		areMaps = true
	}
	for i, row := range list {
		switch {
		case areMaps && row.IsNil():
			return fmt.Errorf("row %d is a nil map: %w", i, gorm.ErrInvalidData)
		case areMaps, !row.IsValid(), row.Type() == model:
		case model == nil || row.Kind() != reflect.Struct || !row.Type().ConvertibleTo(model): // it may have the same fields
			return fmt.Errorf("row %d is of type %v: create the model's structs or pointers to them, map[string]any or []map[string]any: %w", i, row.Type(), gorm.ErrInvalidData)
		}
	}
	return nil
}

// AreStructs reports whether all rows are structs that can be set.
func AreStructs(list []reflect.Value) bool {
	return !slices.ContainsFunc(list, func(row reflect.Value) bool { return row.Kind() != reflect.Struct || !row.CanAddr() })
}

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
