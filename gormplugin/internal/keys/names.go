package keys

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"gorm.io/gorm/schema"
)

// FieldName returns a field's name for errors.
func FieldName(f *schema.Field) string {
	if f.Schema.Name == "" { // a struct without a name
		return f.Name
	}
	return f.Schema.Name + "." + f.Name
}

// modelName returns a model's name for errors.
func modelName(s *schema.Schema) string {
	if s.Name == "" {
		return "an unnamed struct"
	}
	return s.Name
}

// pathInName is the path of a type argument's package up to its last element.
var pathInName = regexp.MustCompile(`[^\[,]*/`)

// TypeName returns a type's name for errors. It shortens a struct without a name, and the type
// arguments of a generic type.
func TypeName(t reflect.Type) string {
	switch {
	case t == nil:
		return "nil"
	case t.Name() != "":
		return pathInName.ReplaceAllString(t.String(), "")
	case t.Kind() == reflect.Pointer:
		return "*" + TypeName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + TypeName(t.Elem())
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), TypeName(t.Elem()))
	case t.Kind() == reflect.Struct:
		return "struct{…}"
	}
	return t.String()
}

func checkTableName(name string) error {
	if name == "" || strings.ContainsRune(name, '.') {
		return errors.New("must be the name of a table without its schema")
	}
	return nil
}

// bareName returns the name of a table without its schema.
func bareName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// FieldNames returns the names of fields for errors.
func FieldNames(fields []*schema.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = FieldName(f)
	}
	return names
}
