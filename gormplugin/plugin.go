package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"gorm.io/gorm"
)

// Source is where ids come from; a *core.Generator is one. Ids must be positive.
type Source interface {
	Next(ctx context.Context) (int64, error)
	Fill(ctx context.Context, ids []int64) error
}

// Config configures a Plugin.
type Config struct {
	Source Source            // for fields whose tag names no source; may be nil if all tags do
	Named  map[string]Source // for the tag snowflake:name, by that name
	Tables map[string]Table  // by the table's name, without its schema
	Models []any             // checked with Validate when the plugin is installed

	// Strict refuses to create a row whose primary key the plugin does not fill. So a model with
	// a forgotten tag fails, instead of getting keys from a counter of the database. In a
	// composite key, one filled part is enough. A key that consists of foreign keys, as in a
	// join table, need not be filled. False: gorm creates such rows as without the plugin.
	Strict bool

	// Exempt lists models, such as &Setting{}, and names of tables, such as "settings", whose
	// keys come from elsewhere. Strict and Models do not check their keys.
	Exempt []any
}

// Table says which column of a table is filled, like a tag. It is for maps that
// db.Table(name) creates without a model. It also applies to models of the table: it adds a
// field that has no tag, and sets the source if the tag names none. If db.Table sends the
// rows of a model to another table in Config.Tables, the entry of that table applies.
type Table struct {
	Column string // required
	Source string // a name in Config.Named; empty: Config.Source
	Text   string // empty: the column holds a number; "decimal" or "base62": a text of that form, which a tag must not contradict
}

// Plugin fills the keys. It implements gorm.Plugin; make it with [New].
type Plugin struct {
	cfg    Config
	tables map[string]target
	exempt exemptions
	first  map[string]string // a source's name → the first name of the same source
	plans  sync.Map          // *schema.Schema → *plan
	unique uniqueCache

	collations sync.Map // collationKey → true
}

var _ gorm.Plugin = (*Plugin)(nil)

// New makes a Plugin. It returns all faults of the configuration in one error.
func New(cfg Config) (*Plugin, error) {
	p := &Plugin{tables: make(map[string]target, len(cfg.Tables))}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch {
	case cfg.Source == nil && len(cfg.Named) == 0:
		fault("Source nil: must be set, or Named hold at least one")
	case cfg.Source != nil && isNil(cfg.Source):
		fault("Source: a nil %T", cfg.Source)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Named)) {
		if err := checkSourceName(name); err != nil {
			fault("Named %q: %w", name, err)
		}
		switch s := cfg.Named[name]; {
		case s == nil:
			fault("Named %q: the source is nil", name)
		case isNil(s):
			fault("Named %q: a nil %T", name, s)
		}
	}
	p.cfg = Config{Source: cfg.Source, Named: maps.Clone(cfg.Named), Models: slices.Clone(cfg.Models), Strict: cfg.Strict}
	p.first = firstNames(p.cfg)
	for _, name := range slices.Sorted(maps.Keys(cfg.Tables)) {
		t := cfg.Tables[name]
		if err := checkTableName(name); err != nil {
			fault("Tables %q: %w", name, err)
		}
		if t.Column == "" {
			fault("Tables %q: Column must be set", name)
		}
		form, ok := map[string]kind{"": signed, wordDecimal: decimal, wordBase62: base62}[t.Text]
		if !ok {
			fault("Tables %q: Text %q: must be empty, %q or %q", name, t.Text, wordDecimal, wordBase62)
		}
		source, err := p.source(t.Source)
		if err != nil {
			fault("Tables %q: %w", name, err)
		}
		p.tables[name] = target{name: name + "." + t.Column, column: t.Column, kind: form, source: source, sourceName: p.first[t.Source]}
	}
	p.exempt = newExemptions(cfg.Exempt, fault)
	if len(faults) > 0 {
		return nil, fmt.Errorf("gormplugin: %w", errors.Join(faults...))
	}
	return p, nil
}

// isNil reports whether a source is a pointer, or the like, to nothing.
func isNil(s Source) bool {
	switch v := reflect.ValueOf(s); v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice:
		return v.IsNil()
	}
	return false
}

// source finds a source by the name that a tag or a table gives.
func (p *Plugin) source(name string) (Source, error) {
	if name == "" {
		if p.cfg.Source == nil {
			return nil, errors.New("Config.Source is nil and no other is named")
		}
		return p.cfg.Source, nil
	}
	s, ok := p.cfg.Named[name]
	if !ok {
		return nil, fmt.Errorf("source %q is not in Config.Named, which has %q", name, slices.Sorted(maps.Keys(p.cfg.Named)))
	}
	return s, nil
}

// firstNames finds sources with several names, so that one call gets the ids for all of
// them. Sources that cannot be compared count as different ones.
func firstNames(cfg Config) map[string]string {
	first := map[string]string{"": ""}
	seen := map[Source]string{}
	if s := reflect.ValueOf(cfg.Source); s.IsValid() && s.Comparable() {
		seen[cfg.Source] = ""
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Named)) {
		s := cfg.Named[name]
		first[name] = name
		if v := reflect.ValueOf(s); !v.IsValid() || !v.Comparable() {
			continue
		}
		if known, ok := seen[s]; ok {
			first[name] = known
		} else {
			seen[s] = name
		}
	}
	return first
}

const pluginName = "snowkey"

// Name is "snowkey". gorm refuses a second plugin of that name on one handle.
func (p *Plugin) Name() string { return pluginName }

// Initialize is called by db.Use. It checks Config.Models and registers the
// callbacks that fill keys. If it fails, no callback stays registered.
func (p *Plugin) Initialize(db *gorm.DB) error {
	if err := p.validate(db, p.cfg.Models); err != nil {
		return err
	}
	if err := p.register(db); err != nil {
		return err
	}
	p.registerKept(db)
	p.registerSQLite(db)
	return nil
}
