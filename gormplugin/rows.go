package gormplugin

import (
	"context"
	"fmt"
	"reflect"

	"gorm.io/gorm"
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

// checkRows refuses what gorm would panic on, with its transaction left open, and
// nil rows, which it refuses only after their associations were written.
func checkRows(stmt *gorm.Statement, rows rowsOf) error {
	switch stmt.Dest.(type) {
	case map[string]any, *map[string]any, []map[string]any, *[]map[string]any:
		for i := range rows.n {
			if rows.at(i).IsNil() { // gorm would make of it a row without a key
				return fmt.Errorf("a nil map cannot be given a key: %w", gorm.ErrInvalidData)
			}
		}
		return nil
	}
	if rows.n == 0 || stmt.Schema == nil {
		return nil // gorm refuses it
	}
	model := stmt.Schema.ModelType
	if t := rows.value.Type(); t == model || rows.list && t.Elem() == model {
		return nil
	}
	pointers := rows.list && rows.value.Type().Elem() == reflect.PointerTo(model)
	for i := range rows.n {
		if pointers && !rows.value.Index(i).IsNil() {
			continue // the usual case, for speed
		}
		row := rows.at(i)
		switch {
		case !row.IsValid():
			return fmt.Errorf("row %d is nil: %w", i, gorm.ErrInvalidData)
		case row.Type() == model || row.Kind() == reflect.Struct && row.Type().ConvertibleTo(model): // the same fields under another name
		default:
			return fmt.Errorf("row %d is of type %v: create %[3]v, []%[3]v, []*%[3]v, map[string]any or []map[string]any: %w",
				i, row.Type(), model, gorm.ErrInvalidData)
		}
	}
	return nil
}

// checkDetails refuses nil in the lists of associations, on which gorm panics
// once the row itself is written.
func checkDetails(stmt *gorm.Statement, rows rowsOf) error {
	if stmt.Schema == nil {
		return nil
	}
	for _, rels := range [][]*schema.Relationship{stmt.Schema.Relationships.HasMany, stmt.Schema.Relationships.Many2Many} {
		for _, rel := range rels {
			if rel.Field.IndirectFieldType.Elem().Kind() != reflect.Pointer {
				continue
			}
			if err := checkDetail(stmt, rows, rel); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkDetail(stmt *gorm.Statement, rows rowsOf, rel *schema.Relationship) error {
	if len(stmt.Selects)+len(stmt.Omits) > 0 {
		columns, restricted := stmt.SelectAndOmitColumns(true, false)
		if written, said := columns[rel.Name]; said && !written || !said && restricted {
			return nil
		}
	}
	for i := range rows.n {
		row := rows.at(i)
		if row.Kind() != reflect.Struct {
			return nil // maps have no associations
		}
		list, ok := find(rel.Field, row)
		if list = indirect(list); !ok || !list.IsValid() {
			continue
		}
		for j := range list.Len() {
			if list.Index(j).IsNil() {
				return fmt.Errorf("%s[%d] of row %d is nil: %w", fieldName(stmt.Schema, rel.Field), j, i, gorm.ErrInvalidData)
			}
		}
	}
	return nil
}

// dropRepeated takes structs out of the statement that are there more than once, as
// gorm does where their keys are set: an association may be shared. Where nothing is
// said of conflicts it is an error, and so it is if rows of their own share what
// holds their key.
func dropRepeated(stmt *gorm.Statement, rows rowsOf, twice int) error {
	if rows.at(0).Kind() == reflect.Map {
		return fmt.Errorf("one map stands for more than one row, and each must have a key of its own: %w", gorm.ErrInvalidData)
	}
	seen := make(map[uintptr]int, rows.n)
	distinct := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(stmt.Schema.ModelType)), 0, rows.n)
	for i := range rows.n {
		row := rows.at(i).Addr()
		first, repeated := seen[row.Pointer()]
		if _, conflicts := stmt.Clauses["ON CONFLICT"]; repeated && !conflicts {
			return fmt.Errorf("row %d is the same struct as row %d, and cannot have a key of its own: %w", i, first, gorm.ErrInvalidData)
		}
		if !repeated {
			seen[row.Pointer()] = i
			distinct = reflect.Append(distinct, row.Convert(distinct.Type().Elem()))
		}
	}
	if distinct.Len()+twice > rows.n {
		return fmt.Errorf("rows share the embedded struct that holds their key: %w", gorm.ErrInvalidData)
	}
	stmt.Dest, stmt.ReflectValue = distinct.Interface(), distinct
	return nil
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
		return true, fmt.Errorf("%s cannot be set in a value of type %v: create a pointer to it", t.name, row.Type())
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
