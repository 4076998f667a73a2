package keys

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Validate is gormplugin.Validate. r may be nil. A fault of a relation is found in two models.
func (r *Registry) Validate(db *gorm.DB, models []any) error {
	var faults []error
	var notes []string
	known := map[string]bool{}
	for _, model := range models {
		stmt := &gorm.Statement{DB: db}
		if err := stmt.Parse(model); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", TypeName(reflect.TypeOf(model)), err))
			continue
		}
		plan := r.newPlan(db, planID{stmt.Schema, "", db.Name()})
		if plan.unfilled != nil && !r.Exempts(stmt.Schema, stmt.Schema.Table) {
			faults = append(faults, plan.unfilled)
		}
		for _, fault := range plan.faults {
			if !known[fault.Error()] {
				known[fault.Error()] = true
				faults = append(faults, fault)
			}
		}
		notes = append(notes, jsonNotes(stmt.Schema)...)
	}
	if len(notes) > 0 {
		db.Logger.Warn(context.Background(), "snowkey: %s", strings.Join(notes, "; "))
	}
	if len(faults) > 0 {
		return fmt.Errorf("gormplugin: %w", errors.Join(faults...))
	}
	return nil
}

// jsonNotes warns of foreign keys that are numbers in JSON, while the keys are strings: a client in
// JavaScript would send back another row's key.
func jsonNotes(s *schema.Schema) (notes []string) {
	for _, ref := range references(s) {
		to, key := ref.ForeignKey, ref.PrimaryKey.IndirectFieldType
		name, options, _ := strings.Cut(to.Tag.Get("json"), ",")
		isNumber := rows.IsInteger(to.FieldType) && !isDefined(rows.Base(to.FieldType)) && name != "-" && !strings.Contains(options, "string")
		if isNumber && rows.IsID(key) {
			notes = append(notes, fmt.Sprintf("%s: its JSON is a number, which JavaScript rounds: use %s", FieldName(to), TypeName(key)))
		}
	}
	return notes
}

// ErrDatabaseKey says that the database makes a model's key, and how to change that.
func ErrDatabaseKey(f *schema.Field, table string) error {
	return fmt.Errorf("%s is zero, so the database makes the key; to have it filled, %s; to leave it so, add %q to Exempt in gormplugin.Config",
		FieldName(f), advice(f), bareName(table))
}

// errUnfilled says why the plugin does not fill the key of a model's rows. It is nil if a part of
// the key is filled, if the tag is snowflake:-, and if the whole key consists of foreign keys.
func errUnfilled(s *schema.Schema, fields []keyField) error {
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
		FieldName(own), advice(own))
}

// advice says how to make the plugin fill a key.
func advice(f *schema.Field) string {
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
