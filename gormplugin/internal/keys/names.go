package keys

import (
	"errors"
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

var (
	pathInName = regexp.MustCompile(`[^\[,]*/`) // of a type argument's package, up to its last element
	unnamed    = regexp.MustCompile(`struct \{.*\}`)
)

// TypeName returns a type's name for errors. It shortens unnamed structs and type arguments.
func TypeName(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	return pathInName.ReplaceAllString(unnamed.ReplaceAllString(t.String(), "struct{…}"), "")
}

func checkTableName(name string) error {
	if name == "" || strings.ContainsRune(name, '.') {
		return errors.New("must be the name of a table without its schema")
	}
	return nil
}

// bareName returns the name of a table without its schema.
func bareName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
