package rows

import (
	"reflect"
	"slices"
)

// Indirect follows pointers. It returns the zero Value for a nil pointer.
func Indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// Base returns the type that pointers of the type lead to.
func Base(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// Field returns a field of a row by gorm's index of it, in which a negative number is an
// embedded pointer. It returns the zero Value behind a nil embedded pointer. gorm's
// ReflectValueOf would allocate the struct there.
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

// BehindPointer reports whether the field is in an embedded struct behind a pointer.
func BehindPointer(index []int) bool {
	return slices.ContainsFunc(index, func(i int) bool { return i < 0 })
}
