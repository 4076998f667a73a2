// Package rows reads the rows that gorm is given, and their fields, by reflection, and what
// Select and Omit keep of them.
package rows

import (
	"iter"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Rows are the rows of a create: a struct, a map, or a slice or an array of them or of
// pointers to them. A value of another type, which gorm refuses, has none.
type Rows struct {
	Len   int
	value reflect.Value
	form  form
}

// form is how the rows are held.
type form uint8

const (
	single   form = iota // a struct or a map
	structs              // a list of structs that can be set
	pointers             // a list of pointers to structs
	other                // any other list
)

// Of returns the rows of a value.
func Of(v reflect.Value) Rows {
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		return Rows{Len: 1, value: v}
	case reflect.Slice, reflect.Array:
		r := Rows{Len: v.Len(), value: v, form: other}
		switch elem := v.Type().Elem(); {
		case elem.Kind() == reflect.Pointer && elem.Elem().Kind() == reflect.Struct:
			r.form = pointers
		case elem.Kind() == reflect.Struct && (v.Kind() == reflect.Slice || v.CanAddr()):
			r.form = structs
		}
		return r
	}
	return Rows{}
}

// At returns a row itself, not the pointer to it. It is the zero Value for a nil pointer.
func (r *Rows) At(i int) reflect.Value {
	if r.form == single {
		return r.value
	}
	return Indirect(r.value.Index(i))
}

// Are reports whether the list is one of structs of the type, none of which can be nil.
func (r *Rows) Are(t reflect.Type) bool {
	own := r.value.Type()
	return own == t || r.form != single && own.Elem() == t
}

// Models yields the rows with their indexes, up to one that is a map or nil.
func (r *Rows) Models() iter.Seq2[int, reflect.Value] {
	return func(yield func(int, reflect.Value) bool) {
		for i := range r.Len {
			if row := r.At(i); row.Kind() != reflect.Struct || !yield(i, row) {
				return
			}
		}
	}
}

// Fast reports whether Direct may be used.
func (r *Rows) Fast() bool { return r.form == structs || r.form == pointers }

// Direct returns a field that no pointer leads to, with as little reflection as possible.
func (r *Rows) Direct(i int, path []int) reflect.Value {
	row := r.value.Index(i)
	if r.form == pointers {
		row = row.Elem()
	}
	for _, index := range path {
		row = row.Field(index)
	}
	return row
}

// Structs returns the rows of a statement with a model if all are structs that can be set, and
// else nil.
func Structs(stmt *gorm.Statement) []reflect.Value {
	if !stmt.ReflectValue.IsValid() {
		return nil
	}
	model, list := stmt.Schema.ModelType, Of(stmt.ReflectValue)
	all := make([]reflect.Value, list.Len)
	for i := range all {
		row := list.At(i)
		if row.Kind() != reflect.Struct || !row.CanAddr() || row.Type() != model && !row.Type().ConvertibleTo(model) {
			return nil // a type with the same fields under another name is accepted
		}
		all[i] = row
	}
	return all
}

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

// Holds reports whether gorm saves a row of the relation with this one.
func Holds(row reflect.Value, rel *schema.Relationship) bool {
	v := Field(row, rel.Field.StructField.Index)
	if !v.IsValid() || v.IsZero() { // gorm's own condition
		return false
	}
	v = Indirect(v)
	return v.Kind() != reflect.Slice || v.Len() > 0
}

// BehindPointer reports whether the field is in an embedded struct behind a pointer.
func BehindPointer(index []int) bool {
	return slices.ContainsFunc(index, func(i int) bool { return i < 0 })
}
