package graph

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// model is what the graph must know of a model.
type model struct {
	schema    *schema.Schema
	columns   []keys.Column // those that are filled or, without a source, must be set
	relations []relation    // those to follow, the belongs-to relations first
	parents   int           // how many of them are belongs-to
	related   []string      // the names of all relations
	autoKey   bool          // the database makes a part of its key
	embedded  [][]int       // the paths to embedded pointers
	before    bool          // it has hooks before the INSERT
	hooks     bool          // it has hooks
	sizes     sizes
}

// as says what Select and Omit of the handle mean for a model.
type as uint8

const (
	asRelated as = iota // nothing
	asGiven             // they name its columns and relations
	asAlone             // its relations are not followed: as in gorm, Select on the handle names those to write
)

type modelID struct {
	schema *schema.Schema
	as     as
}

// modelOf makes the model on its first use in the graph.
func (g *graph) modelOf(s *schema.Schema, as as) (*model, error) {
	if known := g.models[modelID{s, as}]; known != nil {
		return known, nil
	}
	stmt := &gorm.Statement{DB: g.db, Schema: s, Table: s.Table}

	if as == asGiven {
		stmt.Selects, stmt.Omits = g.db.Statement.Selects, g.db.Statement.Omits
		if err := checkNames(s, stmt.Selects, stmt.Omits); err != nil {
			return nil, err
		}
	}
	plan := g.keys.Plan(s, "", g.db.Name())
	if plan.Err != nil {
		return nil, fmt.Errorf("graph: %w", plan.Err)
	}
	m := &model{schema: s, sizes: sizesOf(s)}
	named, restricted := stmt.SelectAndOmitColumns(true, false)
	for _, c := range plan.Columns {
		if kept, isNamed := named[c.DBName]; !isNamed || kept || c.Field.PrimaryKey {
			m.columns = append(m.columns, c)
		}
	}
	m.autoKey = slices.ContainsFunc(s.PrimaryFields, func(f *schema.Field) bool { return isAuto(f, plan.Columns) })
	if !g.db.Statement.SkipHooks {
		m.before = s.BeforeSave || s.BeforeCreate
		m.hooks = m.before || s.AfterSave || s.AfterCreate
	}
	m.embedded = embeddedPointers(s)
	to := asRelated
	if restricted {
		to = asAlone
	}
	for _, rel := range slices.Concat(s.Relationships.BelongsTo, s.Relationships.HasOne, s.Relationships.HasMany, s.Relationships.Many2Many) {
		m.related = append(m.related, rel.Name)
		if kept, isNamed := named[rel.Name]; as != asAlone && (kept || !isNamed && !restricted) {
			m.relations = append(m.relations, g.newRelation(rel, to, slices.Contains(stmt.Omits, rel.Name+".*")))
		}
		if rel.Type == schema.BelongsTo {
			m.parents = len(m.relations)
		}
	}
	g.models[modelID{s, as}] = m
	return m, nil
}

// checkNames refuses names in Select and Omit that are for the columns or relations of another
// model, except Omit("Tags.*") of a many2many.
func checkNames(s *schema.Schema, selects, omits []string) error {
	for i, name := range slices.Concat(selects, omits) {
		first, rest, nested := strings.Cut(name, ".")
		rel := s.Relationships.Relations[first]
		if nested && rel != nil && (rest != "*" || rel.Type != schema.Many2Many || i < len(selects)) {
			return fmt.Errorf("graph: Select and Omit name %q: they apply to the columns and relations of %s alone", name, s.Name)
		}
	}
	return nil
}

// isAuto reports whether the database makes the value of a field.
func isAuto(f *schema.Field, columns []keys.Column) bool {
	return f.HasDefaultValue && f.DefaultValueInterface == nil &&
		!slices.ContainsFunc(columns, func(c keys.Column) bool { return c.Field == f && c.Source != nil })
}

// embeddedPointers returns the paths to the pointers to embedded structs, as gorm writes them.
func embeddedPointers(s *schema.Schema) (paths [][]int) {
	for _, f := range s.Fields {
		for i, x := range f.StructField.Index[:len(f.StructField.Index)-1] {
			path := f.StructField.Index[:i+1]
			if x < 0 && !slices.ContainsFunc(paths, func(p []int) bool { return slices.Equal(p, path) }) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// relation is a relation that the walk follows.
type relation struct {
	rel       *schema.Relationship
	as        as          // of the other side
	to        *model      // the other side, once a row of it was met
	refs      []reference // the foreign keys in the child
	joinRefs  []reference // of a many2many: the join row's foreign keys of the owner
	otherRefs []reference // and of the other side
	columns   []string    // the names of the foreign key's columns
	joinOnly  bool        // of a many2many: Omit("Tags.*") writes the join rows alone
}

func (g *graph) newRelation(rel *schema.Relationship, to as, joinOnly bool) relation {
	r := relation{rel: rel, as: to, joinOnly: joinOnly}
	for _, ref := range rel.References {
		copied := reference{from: ref.PrimaryKey, constant: ref.PrimaryValue, to: ref.ForeignKey}
		if ref.PrimaryValue != "" {
			copied.from = nil
		} else if f := ref.PrimaryKey; f != nil {
			columns := g.keys.Plan(f.Schema, "", g.db.Name()).Columns // its model reports an error of the plan
			copied.made = isAuto(f, columns) || slices.ContainsFunc(columns, func(c keys.Column) bool { return c.Field == f && c.Source != nil })
		}
		switch own := ref.OwnPrimaryKey || ref.PrimaryValue != ""; {
		case rel.Type == schema.Many2Many && own:
			r.joinRefs = append(r.joinRefs, copied)
		case rel.Type == schema.Many2Many:
			r.otherRefs = append(r.otherRefs, copied)
		case own || rel.Type == schema.BelongsTo:
			r.refs = append(r.refs, copied)
		}
		r.columns = append(r.columns, ref.ForeignKey.DBName)
	}
	return r
}
