package keys

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// DatabaseKey says that the database makes a model's key, and how to change that.
func DatabaseKey(f *schema.Field, table string) string {
	return fmt.Sprintf("%s is zero, so the database makes the key; to have it filled, %s; to leave it so, add %q to Exempt in gormplugin.Config",
		FieldName(f), remedy(f), bareName(table))
}

// unkeyed says why the plugin does not fill the key of a model's rows. It is nil if a part of
// the key is filled, if the tag is snowflake:-, and if the whole key consists of foreign keys.
func unkeyed(s *schema.Schema, fields []keyField) error {
	if len(s.PrimaryFields) == 0 {
		return fmt.Errorf("%s has no primary key: add one, or list the model in Config.Exempt", modelName(s))
	}
	var own *schema.Field
	sole := len(s.PrimaryFields) == 1 // if it is not filled, a create refuses zero
	for _, f := range s.PrimaryFields {
		if slices.ContainsFunc(fields, func(known keyField) bool { return known.Field == f && (sole || !known.required) }) {
			return nil
		}
		if o, _, _ := readTag(f); o.never {
			return nil
		}
		if own == nil && !isForeignKey(s, f) {
			own = f
		}
	}
	if own == nil {
		return nil
	}
	return fmt.Errorf("%s: the plugin does not fill this key: %s; if it comes from elsewhere, say snowflake:- in its gorm tag or list the model in Config.Exempt",
		FieldName(own), remedy(own))
}

// remedy says how to make the plugin fill a key.
func remedy(f *schema.Field) string {
	embedded, _ := f.Schema.ModelType.FieldByName("Model")
	switch t := f.IndirectFieldType; {
	case embedded.Type == reflect.TypeFor[gorm.Model]() && len(f.BindNames) > 1:
		return "embed gormplugin.Model instead of gorm.Model"
	case rows.IsID(t) || rows.IsNull(t) || t.Kind() == reflect.String:
		return "add snowflake to its gorm tag"
	case !rows.IsInteger(t):
		return fmt.Sprintf("use sqltype.ID, since its type %s cannot hold a Snowflake id", TypeName(f.FieldType))
	}
	return "use sqltype.ID or sqltype.Key itself, or add autoIncrement:false;snowflake to its gorm tag"
}

// isDefined reports whether the type is defined in a package, as in type OrderID int64.
func isDefined(t reflect.Type) bool { return t.PkgPath() != "" }
