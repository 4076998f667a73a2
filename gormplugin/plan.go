package gormplugin

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"
)

// target is one column to be filled. Of a model's field it is what the rest of the
// package works with: which source, how an id stands in it (kind), whether a row
// has one (isZero) and how it gets one (set).
type target struct {
	name       string // "Order.ID", for messages
	column     string
	field      *schema.Field // nil for a table without a model
	kind       kind
	source     Source // nil: not filled, and must be set, as the key of another row
	sourceName string
	path       []int // to a signed integer in the struct itself or in one embedded by value, as a key mostly is; else nil
}

// plan is what is to be filled in the rows of one model.
type plan struct {
	targets   []target
	lossy     []*schema.Relationship // whose foreign keys gorm would lose
	err       error                  // a tag that cannot be followed
	unkeyed   error                  // why the key is not filled, if it is not
	relations int                    // of the schema, when the plan was made
}

// planID is of a plan for another table than the model's.
type planID struct {
	schema *schema.Schema
	table  string
}

// otherTable is the name, without its schema, of a table to which db.Table sends the model's
// rows, if Config.Tables has it; else it is empty, and the model's own counts.
func (p *Plugin) otherTable(s *schema.Schema, table string) string {
	if table == "" || table == s.Table {
		return ""
	}
	if _, ok := p.table(table); !ok {
		return ""
	}
	return bareName(table)
}

// plan works out what to fill in a model, and again when gorm has since learned
// of another model that refers to it. Schemas are gorm's, one for each model and
// handle, and are not changed here. table is that of the statement.
func (p *Plugin) plan(s *schema.Schema, table string) *plan {
	relations := countRelations(s)
	var id any = s
	if table = p.otherTable(s, table); table != "" {
		id = planID{s, table}
	}
	if known, ok := p.plans.Load(id); ok && known.(*plan).relations == relations {
		return known.(*plan)
	}
	pl := &plan{relations: relations, lossy: lossy(s)}
	fields, faults := p.snowflakeFields(s, table)
	pl.unkeyed = unkeyed(s, fields)
	for _, f := range fields {
		t, err := p.target(s, f)
		if err != nil {
			faults = append(faults, err)
		} else if t.source != nil || f.PrimaryKey {
			pl.targets = append(pl.targets, t)
		}
	}
	if len(faults) > 0 {
		pl.err = errors.Join(faults...)
	}
	p.plans.Store(id, pl)
	return pl
}

func countRelations(s *schema.Schema) int {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	return len(s.Relationships.Relations)
}

func (p *Plugin) target(s *schema.Schema, f snowflakeField) (target, error) {
	t := target{name: fieldName(s, f.Field), column: f.DBName, field: f.Field, sourceName: p.first[f.order.source]}
	if f.given || isForeignKey(s, f.Field) {
		return t, nil // without a kind: it is only looked at
	}
	var err error
	if t.kind, err = kindOf(f.Field, f.order); err == nil {
		t.source, err = p.source(f.order.source)
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", t.name, err)
	}
	byValue := !slices.ContainsFunc(f.StructField.Index, func(i int) bool { return i < 0 }) // gorm's sign for a pointer
	if byValue && t.kind == signed && f.FieldType.Kind() != reflect.Pointer {
		t.path = f.StructField.Index
	}
	return t, nil
}
