// Package keys finds the columns that are filled, by the tags of models and the plugin's
// configuration, reads and sets them in rows, and takes their ids from the sources.
package keys

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Registry finds the columns that are filled. It keeps a plan for each model. A nil Registry
// has no configuration; only Validate may be called on it.
type Registry struct {
	source       sqltype.Source
	named        map[string]sqltype.Source
	tables       map[string]Column
	exemptModels map[reflect.Type]bool
	exemptTables map[string]bool

	plans   sync.Map // *schema.Schema → *Plan
	uniques sync.Map // *schema.Schema → []Unique
}

// New makes a Registry of these sources. It adds their faults to wrong.
func New(source sqltype.Source, named map[string]sqltype.Source, wrong *fields.Errors) *Registry {
	if fields.IsNil(source) {
		wrong.Add("Source", nil, "is a nil %T", source)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if err := checkSourceName(name); err != nil {
			wrong.Add("Named", name, "%v", err)
		}
		switch s := named[name]; {
		case s == nil:
			wrong.Add("Named", name, "the source is nil")
		case fields.IsNil(s):
			wrong.Add("Named", name, "the source is a nil %T", s)
		}
	}
	return &Registry{source: source, named: maps.Clone(named), tables: map[string]Column{}, exemptModels: map[reflect.Type]bool{}, exemptTables: map[string]bool{}}
}

// AddTable adds an entry of Config.Tables, and its faults to wrong.
func (r *Registry) AddTable(name, column, source, text string, wrong *fields.Errors) {
	field := "Tables[" + fields.Quote(name) + "]"
	if err := checkTableName(name); err != nil {
		wrong.Add("Tables", name, "%v", err)
	}
	if column == "" {
		wrong.Add(field+".Column", column, "must be set")
	}
	kind, ok := map[string]Kind{"": signed, decimalText: decimal, base62Text: base62}[text]
	if !ok {
		wrong.Add(field+".Text", text, "must be empty, %q or %q", decimalText, base62Text)
	}
	from, err := r.find(source)
	if err != nil {
		wrong.Add(field+".Source", source, "%v", err)
	}
	r.tables[name] = Column{Name: name + "." + column, DBName: column, Kind: kind, Source: from, SourceName: source}
}

// Exempt adds the entries of Config.Exempt, and their faults to wrong.
func (r *Registry) Exempt(list []any, wrong *fields.Errors) {
	for i, item := range list {
		field := fmt.Sprintf("Exempt[%d]", i)
		if table, ok := item.(string); ok {
			if err := checkTableName(table); err != nil {
				wrong.Add(field, table, "%v", err)
			}
			r.exemptTables[table] = true
			continue
		}
		t := reflect.TypeOf(item)
		for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			wrong.Add(field, item, "is of type %T: must be a model, such as &Setting{}, or the name of a table, such as \"settings\"", item)
			continue
		}
		r.exemptModels[t] = true
	}
}

// Exempts reports whether Config.Exempt lists the model or the table of a statement.
func (r *Registry) Exempts(s *schema.Schema, table string) bool {
	return r != nil && (r.exemptModels[s.ModelType] || r.exemptTables[bareName(table)])
}

// find returns a source by the name in a tag or a table.
func (r *Registry) find(name string) (sqltype.Source, error) {
	s, ok := r.named[name]
	switch {
	case name == "":
		return r.source, nil
	case !ok:
		return nil, fmt.Errorf("source %q is not in Config.Named, which has %q", name, slices.Sorted(maps.Keys(r.named)))
	}
	return s, nil
}

// table returns the column that Config.Tables names for a table, in any schema.
func (r *Registry) table(name string) (Column, bool) {
	if r == nil || len(r.tables) == 0 {
		return Column{}, false
	}
	c, ok := r.tables[bareName(name)]
	return c, ok
}

// Holder is embedded in the plugin, so that the graph writer finds the Registry on a handle.
type Holder struct{ registry *Registry }

// Hold returns a Holder of the Registry.
func Hold(r *Registry) Holder { return Holder{r} }

// Keys returns the Registry.
func (h Holder) Keys() *Registry { return h.registry }

// Of returns the Registry of a handle's plugin, or nil.
func Of(db *gorm.DB) *Registry {
	for _, plugin := range db.Plugins {
		if h, ok := plugin.(interface{ Keys() *Registry }); ok {
			return h.Keys()
		}
	}
	return nil
}
