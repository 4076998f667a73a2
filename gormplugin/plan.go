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
	source Source        // nil: the key of another row, which must be set
}

// plan is what is to be filled in the rows of one model.
type plan struct {
	targets   []target
	err       error // a tag that cannot be followed
	relations int   // of the schema, when the plan was made
}

// plan works out what to fill in a model, and again when gorm has since learned
// of another model that refers to it. Schemas are gorm's, one for each model and
// handle, and are not changed here.
func (p *Plugin) plan(s *schema.Schema) *plan {
	relations := countRelations(s)
	if known, ok := p.plans.Load(s); ok && known.(*plan).relations == relations {
		return known.(*plan)
	}
	pl := &plan{relations: relations}
	var faults []error
	for _, f := range snowflakeFields(s) {
		t, err := p.target(s, f)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if t.source != nil || f.PrimaryKey {
			pl.targets = append(pl.targets, t)
		}
	}
	if len(faults) > 0 {
		pl.err = fmt.Errorf("gormplugin: %w", errors.Join(faults...))
	}
	p.plans.Store(s, pl)
	return pl
}

func countRelations(s *schema.Schema) int {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	return len(s.Relationships.Relations)
}

func (p *Plugin) target(s *schema.Schema, f *schema.Field) (target, error) {
	t := target{name: s.Name + "." + f.Name, column: f.DBName, field: f}
	if isForeignKey(s, f) {
		return t, nil
	}
	if err := checkField(f); err != nil {
		return t, fmt.Errorf("%s: %w", t.name, err)
	}
	sourceName, _ := tag(f)
	var err error
	if t.source, err = p.source(sourceName); err != nil {
		return t, fmt.Errorf("%s: %w", t.name, err)
	}
	return t, nil
}

// snowflakeFields are those that are tagged, and the sole key by its type.
func snowflakeFields(s *schema.Schema) []*schema.Field {
	var fields []*schema.Field
	for _, f := range s.Fields {
		if f.DBName == "" {
			continue
		}
		_, tagged := tag(f)
		if tagged || len(s.PrimaryFields) == 1 && s.PrimaryFields[0] == f && (f.IndirectFieldType == idType || f.IndirectFieldType == nullType) {
			fields = append(fields, f)
		}
	}
	return fields
}

var (
	idType   = reflect.TypeFor[sqltype.ID]()
	nullType = reflect.TypeFor[sqltype.NullID]()
)

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

// checkField says why the field cannot be filled.
func checkField(f *schema.Field) error {
	if f.IndirectFieldType == nullType {
		return errors.New("a key is never NULL: use sqltype.ID")
	}
	t := f.FieldType
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind := t.Kind()
	if wide := kind == reflect.Int64 || kind == reflect.Uint64 || (kind == reflect.Int || kind == reflect.Uint) && t.Bits() == 64; !wide {
		return fmt.Errorf("the type %v cannot hold a key of 63 bits: use sqltype.ID, int64 or uint64", f.FieldType)
	}
	if !f.Creatable {
		return fmt.Errorf("the tag %q keeps it out of what is created", f.Tag.Get("gorm"))
	}
	return nil
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
			if isForeignKey(stmt.Schema, f) {
				continue
			}
			if err := checkField(f); err != nil {
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
