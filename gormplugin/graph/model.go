package graph

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// model is what the graph knows of a gorm model.
type model struct {
	schema    *schema.Schema
	columns   []keys.Column   // those that are filled or, without a source, must be set
	relations []relation      // those to follow, the belongs-to relations first
	parents   int             // how many of them are belongs-to
	related   []string        // the names of all relations
	autoKey   bool            // the database makes a part of its key
	hooks     bool            // it has hooks
	texts     []*schema.Field // whose values are measured
	unsure    bool            // the length of other values is not known
	embedded  [][]int         // the paths to embedded pointers, some twice
	rows      int             // how many the graph has
}

// selection says what Select and Omit of the handle mean for a model.
type selection uint8

const (
	allOfIt      selection = iota // they do not apply
	byHandle                      // they name its columns and relations
	columnsAlone                  // no relation is followed, as in gorm for related rows under Select
)

type modelID struct {
	schema    *schema.Schema
	selection selection
}

// modelOf makes the model on its first use in the graph.
func (g *graph) modelOf(s *schema.Schema, how selection) (*model, error) {
	if known := g.models[modelID{s, how}]; known != nil {
		return known, nil
	}
	stmt := &gorm.Statement{DB: g.db, Schema: s, Table: s.Table}
	if how == byHandle {
		stmt.Selects, stmt.Omits = g.db.Statement.Selects, g.db.Statement.Omits
	}
	plan := g.keys.Plan(g.db, s, "")
	if plan.Err != nil {
		return nil, fmt.Errorf("graph: %w", plan.Err)
	}
	m := &model{schema: s, embedded: embeddedPointers(s)}
	m.findTexts()
	named, restricted := stmt.SelectAndOmitColumns(true, false)
	for _, c := range plan.Columns {
		if kept, isNamed := named[c.DBName]; kept || !isNamed || c.Field.PrimaryKey {
			c.Name = "table " + s.Table + ": " + c.Name // for errors
			m.columns = append(m.columns, c)
		}
	}
	m.autoKey = slices.ContainsFunc(s.PrimaryFields, func(f *schema.Field) bool { _, auto := makerOf(f, plan); return auto })
	m.hooks = !g.db.Statement.SkipHooks && (s.BeforeSave || s.BeforeCreate || s.AfterSave || s.AfterCreate)
	to := map[bool]selection{false: allOfIt, true: columnsAlone}[restricted]
	r := &s.Relationships
	for _, rel := range slices.Concat(r.BelongsTo, r.HasOne, r.HasMany, r.Many2Many) {
		joinOnly := rel.Type == schema.Many2Many && slices.Contains(stmt.Omits, rel.Name+".*")
		for _, name := range slices.Concat(stmt.Selects, stmt.Omits) {
			if strings.HasPrefix(name, rel.Name+".") && !joinOnly {
				return nil, fmt.Errorf("graph: Select or Omit names %q: name only columns and relations of %s", name, s.Name)
			}
		}
		m.related = append(m.related, rel.Name)
		if kept, isNamed := named[rel.Name]; how != columnsAlone && (kept || !isNamed && !restricted) {
			m.relations = append(m.relations, g.newRelation(rel, to, joinOnly))
		}
		if rel.Type == schema.BelongsTo {
			m.parents = len(m.relations)
		}
	}
	g.models[modelID{s, how}] = m
	return m, nil
}

// makerOf reports whether the plugin or the database makes the value of a field.
func makerOf(f *schema.Field, plan *keys.Plan) (plugin, database bool) {
	plugin = slices.ContainsFunc(plan.Columns, func(c keys.Column) bool { return c.Field == f && c.Source != nil })
	return plugin, !plugin && f.HasDefaultValue && f.DefaultValueInterface == nil
}

// embeddedPointers returns gorm's paths to the embedded pointers.
func embeddedPointers(s *schema.Schema) (paths [][]int) {
	for _, f := range s.Fields {
		for i, x := range f.StructField.Index[:len(f.StructField.Index)-1] {
			if x < 0 {
				paths = append(paths, f.StructField.Index[:i+1])
			}
		}
	}
	return paths
}

// relation is a relation that the walk follows.
type relation struct {
	rel       *schema.Relationship
	role      role              // of the other side
	selection selection         // of the other side
	to        *model            // the other side, once a row of it was met
	refs      []reference       // the child's foreign keys; of a many2many: the join row's to the owner
	otherRefs []reference       // of a many2many: the join row's to the other side
	columns   string            // the names of the foreign key's columns
	joined    map[[2]*node]bool // of a many2many: the owner and the other side of its join rows
}

func (g *graph) newRelation(rel *schema.Relationship, to selection, joinOnly bool) relation {
	r := relation{rel: rel, selection: to, role: isShared, joined: map[[2]*node]bool{}}
	switch {
	case joinOnly:
		r.role = isExisting
	case rel.Type == schema.HasOne || rel.Type == schema.HasMany:
		r.role = isChild
	}
	for _, ref := range rel.References {
		copied := reference{constant: ref.PrimaryValue, to: ref.ForeignKey}
		if f := ref.PrimaryKey; f != nil && ref.PrimaryValue == "" {
			plugin, auto := makerOf(f, g.keys.Plan(g.db, f.Schema, "")) // its model reports an error of the plan
			copied.from, copied.made = f, plugin || auto || f.PrimaryKey && len(f.Schema.PrimaryFields) == 1
		}
		if rel.JoinTable != nil && !ref.OwnPrimaryKey && ref.PrimaryValue == "" {
			r.otherRefs = append(r.otherRefs, copied)
		} else {
			r.refs = append(r.refs, copied)
		}
		r.columns = strings.TrimPrefix(r.columns+","+ref.ForeignKey.DBName, ",")
	}
	return r
}
