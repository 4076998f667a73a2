package gormplugin

import (
	"context"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// each visits the rows of what is created: a struct, a map, or a slice or an array
// of them or of pointers to them.
func each(rows reflect.Value, visit func(row reflect.Value) error) error {
	switch rows.Kind() {
	case reflect.Struct, reflect.Map:
		return visit(rows)
	case reflect.Slice, reflect.Array:
		for i := range rows.Len() {
			if err := visit(indirect(rows.Index(i))); err != nil {
				return err
			}
		}
	}
	return nil // what gorm refuses
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// checkRows refuses what gorm would panic on, with its transaction left open, and
// nil rows, which it refuses only after their associations were written.
func checkRows(stmt *gorm.Statement) error {
	switch stmt.Dest.(type) {
	case map[string]any, *map[string]any, []map[string]any, *[]map[string]any:
		return each(stmt.ReflectValue, func(row reflect.Value) error {
			if row.IsNil() { // gorm would make of it a row without a key
				return fmt.Errorf("a nil map cannot be given a key: %w", gorm.ErrInvalidData)
			}
			return nil
		})
	}
	if stmt.Schema == nil {
		return nil // gorm refuses it
	}
	i, model := -1, stmt.Schema.ModelType
	return each(stmt.ReflectValue, func(row reflect.Value) error {
		i++
		switch {
		case row.IsValid() && row.Type() == model:
			return nil
		case !row.IsValid():
			return fmt.Errorf("row %d is nil: %w", i, gorm.ErrInvalidData)
		case row.Kind() == reflect.Struct && row.Type().ConvertibleTo(model):
			return nil // the same fields under another name
		}
		return fmt.Errorf("row %d is a %v: create %[3]v, []%[3]v, []*%[3]v, map[string]any or []map[string]any: %w", i, row.Type(), model, gorm.ErrInvalidData)
	})
}

// checkDetails refuses nil in the lists of associations, on which gorm panics
// once the row itself is written.
func checkDetails(stmt *gorm.Statement) error {
	if stmt.Schema == nil {
		return nil
	}
	for _, rels := range [][]*schema.Relationship{stmt.Schema.Relationships.HasMany, stmt.Schema.Relationships.Many2Many} {
		for _, rel := range rels {
			if rel.Field.IndirectFieldType.Elem().Kind() != reflect.Pointer {
				continue
			}
			if err := checkDetail(stmt, rel); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkDetail(stmt *gorm.Statement, rel *schema.Relationship) error {
	if len(stmt.Selects)+len(stmt.Omits) > 0 {
		columns, restricted := stmt.SelectAndOmitColumns(true, false)
		if written, said := columns[rel.Name]; said && !written || !said && restricted {
			return nil
		}
	}
	return each(stmt.ReflectValue, func(row reflect.Value) error {
		if row.Kind() != reflect.Struct {
			return nil
		}
		list, ok := find(rel.Field, row)
		if !ok {
			return nil
		}
		if list = indirect(list); !list.IsValid() {
			return nil
		}
		for i := range list.Len() {
			if list.Index(i).IsNil() {
				return fmt.Errorf("%s[%d] is nil: %w", fieldName(stmt.Schema, rel.Field), i, gorm.ErrInvalidData)
			}
		}
		return nil
	})
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
