package keys

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Plan is what the plugin does with the rows of a model. It depends on the model alone, not on
// which other models gorm has parsed.
type Plan struct {
	Columns     []Column // that are filled, and parts of the key that must be set
	Err         error    // of a wrong tag or column, or a foreign key that cannot hold its key
	DatabaseKey *Column  // the sole integer key, if the plugin does not fill it; else nil
	Relations   bool     // gorm may save rows of other models with rows of this one

	Noticed atomic.Bool // DatabaseKey was logged

	faults   []error // of Err
	unfilled error   // why the plugin does not fill the key, though it may be meant to
}

// Fills reports whether the plugin fills a column.
func (p *Plan) Fills() bool {
	return slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Source != nil })
}

// FillsKey reports whether the plugin fills a part of the key.
func (p *Plan) FillsKey() bool {
	return slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Source != nil && (c.Field == nil || c.Field.PrimaryKey) })
}

var empty Plan

type planID struct {
	schema         *schema.Schema
	table, dialect string
}

// Plan returns the plan of a model in a table. s is nil for a table without a model: Config.Tables may
// name its column.
func (r *Registry) Plan(db *gorm.DB, s *schema.Schema, table string) *Plan {
	id := planID{s, "", db.Name()}
	var c Column
	configured := false
	if len(r.tables) > 0 {
		c, configured = r.table(table)
	}
	switch {
	case s == nil && configured:
		return &Plan{Columns: []Column{c}}
	case s == nil:
		return &empty
	case configured:
		id.table = table
	}
	if known, ok := r.plans.Load(id); ok {
		return known.(*Plan)
	}
	known, _ := r.plans.LoadOrStore(id, r.newPlan(db, id))
	return known.(*Plan)
}

func (r *Registry) newPlan(db *gorm.DB, id planID) *Plan {
	p, s := &Plan{}, id.schema
	awaitParsed(db, s)
	fields, faults := r.keyFields(s, id.table)
	if len(faults) == 0 {
		p.unfilled = errUnfilled(s, fields)
	}
	for _, f := range fields {
		c, err := r.column(f, id.dialect)
		if err != nil {
			faults = append(faults, err)
		} else if c.Source != nil || f.PrimaryKey {
			p.Columns = append(p.Columns, c)
		}
	}
	for _, ref := range references(s) {
		p.Relations = true
		if err := r.checkReference(ref, id.dialect); err != nil {
			faults = append(faults, err)
		}
	}
	p.faults, p.Err = faults, errors.Join(faults...)
	if len(s.PrimaryFields) == 1 && !slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Field == s.PrimaryFields[0] }) {
		f := s.PrimaryFields[0]
		kind := f.IndirectFieldType.Kind()
		if o, _, _ := readTag(f); !o.never && reflect.Int <= kind && kind <= reflect.Uint64 {
			p.DatabaseKey = &Column{Name: FieldName(f), DBName: f.DBName, Field: f}
		}
	}
	return p
}

// awaitParsed waits until gorm has parsed a model and the models of its relations. Another goroutine may
// still be parsing the relations of a model that gorm has found by a relation.
func awaitParsed(db *gorm.DB, s *schema.Schema) {
	parse := func(s *schema.Schema) {
		if s.ModelType.Name() != "" { // gorm makes a join table without a name together with its owner
			_ = (&gorm.Statement{DB: db}).Parse(reflect.New(s.ModelType).Interface())
		}
	}
	parse(s)
	for _, ref := range references(s) {
		parse(ref.PrimaryKey.Schema)
		parse(ref.ForeignKey.Schema)
	}
}

func (r *Registry) column(f keyField, dialect string) (Column, error) {
	c := Column{Name: FieldName(f.Field), DBName: f.DBName, Field: f.Field, SourceName: f.options.source}
	if f.required {
		return c, nil // without a kind: it is never set
	}
	var err error
	if c.Kind, err = kindOf(f.Field, f.options, dialect); err == nil {
		c.Source, err = r.find(f.options.source)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", c.Name, err)
	}
	return c, nil
}

// keyField is a field of a model that is filled or must be set.
type keyField struct {
	*schema.Field
	options  options
	required bool // not filled: a part of a composite key, or the key of another row
}

// keyFields finds the fields that are tagged or named in Config.Tables, a sole key whose type
// needs no tag, and other keys of these types. name is the table of a statement, or empty. A nil
// Registry has no tables.
func (r *Registry) keyFields(s *schema.Schema, name string) (fields []keyField, faults []error) {
	table, configured := r.table(name, s.Table)
	met := !configured // the column of Config.Tables
	for _, f := range s.Fields {
		o, tagged, err := readTag(f)
		if err == nil {
			err = checkTagPlace(f, tagged)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", FieldName(f), err))
			continue
		}
		if f.DBName == "" || s.FieldsByDBName[f.DBName] != f || o.never { // a shadowed field has no column
			continue
		}
		if configured && strings.EqualFold(table.DBName, f.DBName) {
			met = true
			if tagged && table.Kind != signed && o.base62 != (table.Kind == base62) {
				faults = append(faults, fmt.Errorf("%s: the tag and Text in Config.Tables for %s contradict each other: one says base62, the other does not",
					FieldName(f), table.Name))
				continue
			}
			o.configured, o.base62 = true, o.base62 || table.Kind == base62
			o.source = cmp.Or(o.source, table.SourceName)
			tagged = true
		}
		t := f.IndirectFieldType
		isKey, foreign := f.PrimaryKey && (rows.IsID(t) || rows.IsNull(t)), isForeignKey(s, f)
		switch {
		case tagged && !foreign, isKey && !foreign && isOwnKey(s, f):
			fields = append(fields, keyField{Field: f, options: o})
		case f.PrimaryKey && (isKey || tagged) && f.TagSettings["DEFAULT"] == "":
			fields = append(fields, keyField{Field: f, required: true})
		}
	}
	if !met {
		faults = append(faults, fmt.Errorf("%s has no column %q, which Config.Tables names for %q: it has %q", modelName(s), table.DBName, bareName(cmp.Or(name, s.Table)), s.DBNames))
	}
	return fields, faults
}

// isOwnKey reports whether a key identifies its own row: it is the only one, and is named ID, or
// OrderID in Order. UserID in Profile may be the key of a User, which gorm may not have parsed.
func isOwnKey(s *schema.Schema, f *schema.Field) bool {
	return len(s.PrimaryFields) == 1 && (strings.EqualFold(f.Name, "ID") || strings.EqualFold(f.Name, s.Name+"ID"))
}

// isForeignKey reports whether the field is a foreign key of a relation that the model declares, as
// every field of gorm's join tables is. It ignores relations whose names begin with an underscore:
// gorm adds them when it parses another model.
func isForeignKey(s *schema.Schema, f *schema.Field) bool {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	for name, rel := range s.Relationships.Relations {
		if !strings.HasPrefix(name, "_") && slices.ContainsFunc(rel.References, func(ref *schema.Reference) bool { return ref.ForeignKey == f }) {
			return true
		}
	}
	return false
}
