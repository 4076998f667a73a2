package keys

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Plan is what is filled in the rows of a model.
type Plan struct {
	Columns []Column
	Losses  []Loss // the relations whose foreign keys gorm would lose
	Err     error  // of a tag that cannot be followed

	unkeyed   error // why the key is not filled, if it is not
	relations int   // of the schema, when the plan was made
}

// planID is the key of a plan for another table than the model's.
type planID struct {
	schema *schema.Schema
	table  string
}

// Plan returns what is filled in the rows that a statement writes to a table. s is nil for a
// table without a model; table may be empty if s is not nil. It makes the plan again when gorm
// has since met another model that refers to this one. It does not change the schema.
func (r *Registry) Plan(s *schema.Schema, table string) *Plan {
	if s == nil {
		if c, ok := r.table(table); ok {
			return &Plan{Columns: []Column{c}}
		}
		return &Plan{}
	}
	relations := countRelations(s)
	var id any = s
	if table = r.otherTable(s, table); table != "" {
		id = planID{s, table}
	}
	if known, ok := r.plans.Load(id); ok && known.(*Plan).relations == relations {
		return known.(*Plan)
	}
	p := &Plan{relations: relations, Losses: r.losses(s)}
	fields, faults := r.keyFields(s, table)
	p.unkeyed = unkeyed(s, fields)
	for _, f := range fields {
		c, err := r.column(f)
		if err != nil {
			faults = append(faults, err)
		} else if c.Source != nil || f.PrimaryKey {
			p.Columns = append(p.Columns, c)
		}
	}
	p.Err = errors.Join(faults...)
	r.plans.Store(id, p)
	return p
}

// otherTable returns the name, without its schema, of the table to which db.Table sends the
// rows if Config.Tables has it. It is empty if the model's own table applies.
func (r *Registry) otherTable(s *schema.Schema, table string) string {
	if table == "" || table == s.Table {
		return ""
	}
	if _, ok := r.table(table); !ok {
		return ""
	}
	return bareName(table)
}

func countRelations(s *schema.Schema) int {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	return len(s.Relationships.Relations)
}

func (r *Registry) column(f keyField) (Column, error) {
	c := Column{Name: FieldName(f.Field), DBName: f.DBName, Field: f.Field, SourceName: r.first[f.options.source]}
	if f.required || isForeignKey(f.Schema, f.Field) {
		return c, nil // without a kind: it is never set
	}
	var err error
	if c.Kind, err = kindOf(f.Field, f.options); err == nil {
		c.Source, err = r.find(f.options.source)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", c.Name, err)
	}
	if c.Kind == signed && !rows.BehindPointer(f.StructField.Index) && f.FieldType.Kind() != reflect.Pointer {
		c.direct = f.StructField.Index
	}
	return c, nil
}

// Upserted returns the columns that an upsert sets in the struct to the values of an existing
// row: the parts of the key, and the columns beside it, that have a source. If only columns
// beside the key have a source, it returns the whole key.
func (r *Registry) Upserted(s *schema.Schema, table string) (keys, columns []Column) {
	p := r.Plan(s, table)
	if p.Err != nil {
		return nil, nil // filling reports it
	}
	for _, c := range p.Columns {
		switch {
		case c.Source == nil:
		case c.Field.PrimaryKey:
			keys = append(keys, c)
		default:
			columns = append(columns, c)
		}
	}
	if len(keys) == 0 && len(columns) > 0 {
		for _, f := range s.PrimaryFields {
			keys = append(keys, Column{Name: FieldName(f), DBName: f.DBName, Field: f})
		}
	}
	return keys, columns
}

// Fills reports whether the plugin fills a field of a model.
func (r *Registry) Fills(f *schema.Field) bool {
	return slices.ContainsFunc(r.Plan(f.Schema, "").Columns, func(c Column) bool { return c.Field == f && c.Source != nil })
}

// SoleInteger returns the only key of a model if the plugin fills it with integers, and else nil.
func (r *Registry) SoleInteger(s *schema.Schema) *schema.Field {
	if len(s.PrimaryFields) != 1 {
		return nil
	}
	fields, _ := r.keyFields(s, "")
	for _, f := range fields {
		if f.Field != s.PrimaryFields[0] {
			continue
		}
		if k, err := kindOf(f.Field, f.options); err == nil && k.digits() == 0 {
			return f.Field
		}
	}
	return nil
}
