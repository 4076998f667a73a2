// Package keys finds the columns that are filled, by the tags of models and the plugin's
// configuration, reads and sets them in rows, and takes their ids from the sources.
//
// The code reads in this order: registry, plan, tag, kind, column, ids, reference, validate, unique, names.
package keys

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

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

	plans   sync.Map // planID → *Plan
	uniques sync.Map // *schema.Schema → []Unique
	home    atomic.Pointer[sql.DB]
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
	return &Registry{
		source: source, named: maps.Clone(named), tables: map[string]Column{},
		exemptModels: map[reflect.Type]bool{}, exemptTables: map[string]bool{},
	}
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
	if r == nil { // Validate without a plugin
		return nil, nil
	}
	s, ok := r.named[name]
	switch {
	case name == "":
		return r.source, nil
	case !ok:
		return nil, fmt.Errorf("source %q is not in Config.Named, which has %q", name, slices.Sorted(maps.Keys(r.named)))
	}
	return s, nil
}

// table returns the column that Config.Tables names for the first of the tables that it has, in any
// schema.
func (r *Registry) table(names ...string) (Column, bool) {
	if r != nil && len(r.tables) > 0 {
		for _, name := range names {
			if c, ok := r.tables[bareName(name)]; ok {
				return c, true
			}
		}
	}
	return Column{}, false
}

// SetHome notes the pool that the worker ID is leased from.
func (r *Registry) SetHome(db *gorm.DB) { r.home.Store(poolOf(db.Statement.ConnPool)) }

// CheckHome refuses a statement that goes to another database than the one that the worker ID is
// leased from: handles that share a gorm.Config share its plugins and callbacks. It allows the pools
// of gorm.io/plugin/dbresolver, and pools that hide their *sql.DB.
func (r *Registry) CheckHome(db *gorm.DB) error {
	home := r.home.Load()
	if home == nil {
		return nil
	}
	pool := poolOf(db.Statement.ConnPool)
	if pool == nil || pool == home {
		return nil
	}
	known := false
	for _, plugin := range db.Plugins {
		if resolver, ok := plugin.(interface {
			Call(func(gorm.ConnPool) error) error
		}); ok {
			_ = resolver.Call(func(other gorm.ConnPool) error {
				known = known || poolOf(other) == pool
				return nil
			})
		}
	}
	if known {
		return nil
	}
	return errors.New("the plugin leases its worker ID from the database of another handle: " +
		"give each database its own plugin and its own gorm.Config; " +
		"for a second pool of the same database, use gormplugin.New(gormplugin.Config{Source: plugin})")
}

// poolOf returns the pool of a connection, or nil. gorm reads a *sql.Tx in this way too.
func poolOf(conn gorm.ConnPool) *sql.DB {
	switch c := conn.(type) {
	case *sql.DB:
		return c
	case *sql.Tx, *sql.Conn:
		if pool := reflect.ValueOf(c).Elem().FieldByName("db"); pool.IsValid() {
			return (*sql.DB)(pool.UnsafePointer())
		}
	case gorm.GetDBConnector:
		pool, _ := c.GetDBConn()
		return pool
	}
	return nil
}

// Referred is the key of a setting of gorm, by which package graph says which rows others refer to: a
// func(i int) bool.
type Referred struct{}

// Holder is embedded in the plugin, so that package graph finds the Registry on a handle.
type Holder struct{ registry *Registry }

// NewHolder returns a Holder of the Registry.
func NewHolder(r *Registry) Holder { return Holder{r} }

func (h Holder) heldRegistry() *Registry { return h.registry }

// RegistryOf returns the Registry of a handle's plugin, or nil.
func RegistryOf(db *gorm.DB) *Registry {
	for _, plugin := range db.Plugins {
		if h, ok := plugin.(interface{ heldRegistry() *Registry }); ok {
			return h.heldRegistry()
		}
	}
	return nil
}
