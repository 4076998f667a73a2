package gormplugin

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm/schema"
)

// fieldName returns a field's name for errors.
func fieldName(s *schema.Schema, f *schema.Field) string {
	if s.Name == "" { // a struct without a name
		return f.Name
	}
	return s.Name + "." + f.Name
}

// typeName returns a type's name for errors. It shortens a struct without a name.
func typeName(t reflect.Type) string {
	switch {
	case t == nil:
		return "nil"
	case t.Name() != "":
	case t.Kind() == reflect.Pointer:
		return "*" + typeName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + typeName(t.Elem())
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), typeName(t.Elem()))
	case t.Kind() == reflect.Struct:
		return "struct{…}"
	}
	return t.String()
}

func valueType(v any) string { return typeName(reflect.TypeOf(v)) }

// modelName returns a model's name for errors.
func modelName(s *schema.Schema) string {
	if s.Name == "" {
		return "an unnamed struct"
	}
	return s.Name
}

func checkTableName(name string) error {
	if name == "" || strings.ContainsRune(name, '.') {
		return errors.New("not the name of a table; the schema is left out of it")
	}
	return nil
}

func bareName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// schemaName returns the schema in a table's name, or nil.
func schemaName(table string) any {
	if i := strings.LastIndexByte(table, '.'); i >= 0 {
		return table[:i]
	}
	return nil
}
