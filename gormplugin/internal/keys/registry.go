// Package keys finds the columns of models and tables that are filled, from the tags of a model
// and the plugin's configuration, reads and sets them in a row, and takes their ids from the
// sources.
package keys

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Config configures a Registry. The fields are those of gormplugin.Config.
type Config struct {
	Source sqltype.Source
	Named  map[string]sqltype.Source
	Tables map[string]Table
	Strict bool
	Exempt []any
}

// Table is gormplugin.Table.
type Table struct{ Column, Source, Text string }

// Registry finds the columns that are filled. It keeps a plan for each model. A nil Registry
// has no configuration; only Validate may be called on it.
type Registry struct {
	source sqltype.Source
	named  map[string]sqltype.Source
	strict bool
	tables map[string]Column
	exempt exemptions
	plans  sync.Map // *schema.Schema → *Plan

	uniques sync.Map // *schema.Schema → []Unique
}

// New makes a Registry. It returns a *core.ConfigError with all faults of the configuration.
func New(cfg Config) (*Registry, error) {
	r := &Registry{source: cfg.Source, named: maps.Clone(cfg.Named), strict: cfg.Strict, tables: make(map[string]Column, len(cfg.Tables))}
	var wrong fields.Errors
	if fields.IsNil(cfg.Source) {
		wrong.Add("Source", nil, "is a nil %T", cfg.Source)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Named)) {
		if err := checkSourceName(name); err != nil {
			wrong.Add("Named", name, "%v", err)
		}
		switch s := cfg.Named[name]; {
		case s == nil:
			wrong.Add("Named", name, "the source is nil")
		case fields.IsNil(s):
			wrong.Add("Named", name, "the source is a nil %T", s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Tables)) {
		t, field := cfg.Tables[name], "Tables["+fields.Quote(name)+"]"
		if err := checkTableName(name); err != nil {
			wrong.Add("Tables", name, "%v", err)
		}
		if t.Column == "" {
			wrong.Add(field+".Column", t.Column, "must be set")
		}
		kind, ok := map[string]Kind{"": signed, decimalText: decimal, base62Text: base62}[t.Text]
		if !ok {
			wrong.Add(field+".Text", t.Text, "must be empty, %q or %q", decimalText, base62Text)
		}
		source, err := r.find(t.Source)
		if err != nil {
			wrong.Add(field+".Source", t.Source, "%v", err)
		}
		r.tables[name] = Column{Name: name + "." + t.Column, DBName: t.Column, Kind: kind, Source: source, SourceName: t.Source}
	}
	r.exempt = newExemptions(cfg.Exempt, &wrong)
	return r, wrong.Err("gormplugin")
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

// table returns the column that Config.Tables names for a table, in whichever schema it is.
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
