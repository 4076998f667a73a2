package gormplugin

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// target is one column to be filled.
type target struct {
	name   string // "Order.ID", for messages
	column string
	field  *schema.Field // nil for a table without a model
	source Source
}

// plan is what is to be filled in the rows of one model.
type plan struct {
	targets []target
	err     error // a tag that cannot be followed
}

// plan works out once what to fill in a model. Schemas are gorm's, one for each
// model and handle, and are not changed here.
func (p *Plugin) plan(s *schema.Schema) *plan {
	if known, ok := p.plans.Load(s); ok {
		return known.(*plan)
	}
	pl := &plan{}
	var faults []error
	for _, f := range snowflakeFields(s) {
		t, err := p.target(s, f)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		pl.targets = append(pl.targets, t)
	}
	if len(faults) > 0 {
		pl.err = fmt.Errorf("gormplugin: %w", errors.Join(faults...))
	}
	known, _ := p.plans.LoadOrStore(s, pl)
	return known.(*plan)
}

func (p *Plugin) target(s *schema.Schema, f *schema.Field) (target, error) {
	name := s.Name + "." + f.Name
	if err := checkKind(f); err != nil {
		return target{}, fmt.Errorf("%s: %w", name, err)
	}
	sourceName, _ := tag(f)
	source, err := p.source(sourceName)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", name, err)
	}
	return target{name: name, column: f.DBName, field: f, source: source}, nil
}

// snowflakeFields are those that are to be filled: tagged, or by type.
func snowflakeFields(s *schema.Schema) []*schema.Field {
	var fields []*schema.Field
	for _, f := range s.Fields {
		if f.DBName == "" || isForeignKey(s, f) {
			continue
		}
		_, tagged := tag(f)
		if tagged || len(s.PrimaryFields) == 1 && s.PrimaryFields[0] == f && f.IndirectFieldType == idType {
			fields = append(fields, f)
		}
	}
	return fields
}

var idType = reflect.TypeFor[sqltype.ID]()

// tag reads the field's own tag. TagSettings will not do: gorm copies the tag of
// an embedding field into every embedded one's.
func tag(f *schema.Field) (source string, tagged bool) {
	source, tagged = schema.ParseTagSetting(f.Tag.Get("gorm"), ";")["SNOWFLAKE"]
	if strings.EqualFold(source, "snowflake") { // how gorm says that a tag has no value
		source = ""
	}
	return strings.TrimSpace(source), tagged
}

// isForeignKey reports whether the field holds another row's key. In the join
// tables that gorm makes, every field does.
func isForeignKey(s *schema.Schema, f *schema.Field) bool {
	// gorm adds to a parsed schema's relations when it meets another that has it.
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	for _, rel := range s.Relationships.Relations {
		for _, ref := range rel.References {
			if ref.ForeignKey == f {
				return true
			}
		}
	}
	return false
}

func checkKind(f *schema.Field) error {
	t := f.IndirectFieldType
	switch t.Kind() {
	case reflect.Int64, reflect.Uint64:
		return nil
	case reflect.Int, reflect.Uint:
		if t.Bits() == 64 {
			return nil
		}
	}
	return fmt.Errorf("the type %v cannot hold a key of 63 bits: use sqltype.ID, int64 or uint64", f.FieldType)
}

// Validate names, in one error, each snowflake field of the models that gorm
// still takes for auto-increment, and the tag that mends it. Left as it is, such a
// key becomes a sequence or an AUTO_INCREMENT column in AutoMigrate, and a
// counter that jumps into the range of the ids.
func Validate(db *gorm.DB, models ...any) error {
	var faults []error
	for _, model := range models {
		stmt := &gorm.Statement{DB: db}
		if err := stmt.Parse(model); err != nil {
			faults = append(faults, fmt.Errorf("%T: %w", model, err))
			continue
		}
		for _, f := range snowflakeFields(stmt.Schema) {
			name := stmt.Schema.Name + "." + f.Name
			if err := checkKind(f); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			} else if f.AutoIncrement {
				faults = append(faults, fmt.Errorf("%s %v is auto-increment to gorm: add autoIncrement:false to its gorm tag %q",
					name, f.FieldType, f.Tag.Get("gorm")))
			}
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("gormplugin: %w", errors.Join(faults...))
	}
	return nil
}

// keepInStatement sees to it that the statement writes the column that is to be
// filled, whatever was selected; a key left out on purpose is an error. It
// reports false for a column that is left out and is no key.
func keepInStatement(stmt *gorm.Statement, t target) (bool, error) {
	if len(stmt.Selects) == 0 && len(stmt.Omits) == 0 {
		return true, nil
	}
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	primary := t.field == nil || t.field.PrimaryKey
	switch wanted, said := columns[t.column]; {
	case said && wanted, !said && !restricted:
		return true, nil
	case said && !primary:
		return false, nil
	case said:
		return false, fmt.Errorf("gormplugin: %s is left out by Omit: the row would be written under another key", t.name)
	}
	// On a copy: the statement shares the slice with the handle it came from.
	stmt.Selects = append(slices.Clip(stmt.Selects), t.column)
	return true, nil
}
