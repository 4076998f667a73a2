package keys

import (
	"fmt"
	"reflect"
	"slices"

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
	t := f.IndirectFieldType
	short := t.Kind() == reflect.String && (f.Size > 0 && f.Size < base62Digits || tooNarrow(string(f.DataType), base62, ""))
	switch {
	case short:
		return "use sqltype.ID, since its column is too short for a Snowflake id"
	case rows.IsID(t) || rows.IsNull(t) || t.Kind() == reflect.String:
		return "add snowflake to its gorm tag"
	case !rows.IsInteger(t):
		return fmt.Sprintf("use sqltype.ID, since its type %s cannot hold a Snowflake id", TypeName(f.FieldType))
	case isDefined(t) && len(f.Schema.PrimaryFields) == 1:
		return fmt.Sprintf("use sqltype.ID or a sqltype.Key itself, since %v has none of their methods, or add autoIncrement:false;snowflake to its gorm tag", t)
	}
	return "use sqltype.ID, or add autoIncrement:false;snowflake to its gorm tag"
}

// isDefined reports whether the type has a name of its own, as OrderID in type OrderID int64.
func isDefined(t reflect.Type) bool { return t.PkgPath() != "" }
