package gormplugin

import (
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

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
			return fmt.Errorf("row %d is of type %s: create %[3]s, []%[3]s, []*%[3]s, map[string]any or []map[string]any: %w",
				i, typeName(row.Type()), typeName(model), gorm.ErrInvalidData)
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
	noted := freshOf(stmt)
	var fresh []lack // of the rows that stay: it goes by their places
	for i := range rows.n {
		row := rows.at(i).Addr()
		first, repeated := seen[row.Pointer()]
		if _, conflicts := stmt.Clauses["ON CONFLICT"]; repeated && !conflicts {
			return fmt.Errorf("row %d is the same struct as row %d, and cannot have a key of its own: %w", i, first, gorm.ErrInvalidData)
		}
		if !repeated {
			seen[row.Pointer()] = i
			distinct = reflect.Append(distinct, row.Convert(distinct.Type().Elem()))
			if i < len(noted) {
				fresh = append(fresh, noted[i])
			}
		}
	}
	if distinct.Len()+twice > rows.n {
		return fmt.Errorf("rows share the embedded struct that holds their key: %w", gorm.ErrInvalidData)
	}
	stmt.Dest, stmt.ReflectValue = distinct.Interface(), distinct
	if noted != nil {
		stmt.Settings.Store(freshKey, fresh)
	}
	return nil
}
