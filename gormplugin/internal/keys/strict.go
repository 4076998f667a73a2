package keys

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// exemptions are what Config.Exempt lists.
type exemptions struct {
	models map[reflect.Type]bool
	tables map[string]bool
}

func newExemptions(list []any, wrong *fields.Errors) exemptions {
	e := exemptions{models: map[reflect.Type]bool{}, tables: map[string]bool{}}
	for i, item := range list {
		field := fmt.Sprintf("Exempt[%d]", i)
		if table, ok := item.(string); ok {
			if err := checkTableName(table); err != nil {
				wrong.Add(field, table, "%v", err)
			}
			e.tables[table] = true
			continue
		}
		t := reflect.TypeOf(item)
		for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			wrong.Add(field, item, "is of type %T: must be a model, such as &Setting{}, or the name of a table", item)
			continue
		}
		e.models[t] = true
	}
	return e
}

// exempts reports whether Config.Exempt lists the model or the table. s is nil for a table
// without a model; table may be empty.
func (r *Registry) exempts(s *schema.Schema, table string) bool {
	if r == nil {
		return false
	}
	if s != nil && (r.exempt.models[s.ModelType] || r.exempt.tables[bareName(s.Table)]) {
		return true
	}
	return r.exempt.tables[bareName(table)]
}

// CheckStrict refuses, under Config.Strict, rows whose key the plugin does not fill. s is nil
// for a table without a model.
func (r *Registry) CheckStrict(s *schema.Schema, table string) error {
	if !r.strict || r.exempts(s, table) {
		return nil
	}
	p := r.Plan(s, table)
	if s == nil && len(p.Columns) == 0 {
		return errors.New("the plugin is strict and does not know the table: add it to Config.Tables, or to Config.Exempt if its keys come from elsewhere")
	}
	return p.unkeyed
}

// unkeyed says why the plugin does not fill the key of a model's rows. It is nil if a part of
// the key is filled, if the tag is snowflake:-, and if the whole key consists of foreign keys.
func unkeyed(s *schema.Schema, fields []keyField) error {
	if len(s.PrimaryFields) == 0 {
		return fmt.Errorf("%s has no primary key: add one, or list the model in Config.Exempt", modelName(s))
	}
	var own *schema.Field
	for _, f := range s.PrimaryFields {
		if slices.ContainsFunc(fields, func(known keyField) bool { return known.Field == f && !known.required }) {
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
		FieldName(own), remedy(own, len(s.PrimaryFields) > 1))
}

// remedy says how to make the plugin fill a key.
func remedy(f *schema.Field, composite bool) string {
	t := f.IndirectFieldType
	switch {
	case rows.IsID(t) || rows.IsNull(t) || t.Kind() == reflect.String:
		return "add snowflake to its gorm tag"
	case !rows.IsInteger(t):
		return fmt.Sprintf("its type %s cannot hold a Snowflake id: use sqltype.ID", TypeName(f.FieldType))
	case isDefined(t) && !composite:
		return fmt.Sprintf("use sqltype.ID or a sqltype.Key itself, since %v has none of their methods, or add autoIncrement:false;snowflake to its gorm tag", t)
	}
	return "use sqltype.ID, or add autoIncrement:false;snowflake to its gorm tag"
}

// isDefined reports whether the type has a name of its own, as OrderID in type OrderID int64.
func isDefined(t reflect.Type) bool { return t.PkgPath() != "" }
