package graph

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// model is what the graph knows of a gorm model.
type model struct {
	schema   *schema.Schema
	given    bool            // Select and Omit of the handle name its columns and relations
	columns  []keys.Column   // those that are filled or, without a source, must be set
	parents  []relation      // the belongs-to relations to follow
	children []relation      // the other relations to follow
	related  []string        // the names of all relations
	autoKey  bool            // the database makes a part of its key
	hooks    bool            // it has hooks
	texts    []*schema.Field // whose values are measured
	unsure   bool            // the length of other values is not known
	inexact  bool            // a part of its key may be returned in another form: times are rounded, strings padded
	embedded [][]int         // the paths to embedded pointers, some twice
}

// modelOf makes the model on its first use in the graph.
func (g *graph) modelOf(s *schema.Schema, given bool) (*model, error) {
	if i := slices.IndexFunc(g.models, func(m *model) bool { return m.schema == s && m.given == given }); i >= 0 {
		return g.models[i], nil
	}
	m := &model{schema: s, given: given}
	m.readFields()
	stmt, named, table := &gorm.Statement{DB: g.db, Schema: s, Table: s.Table}, map[string]bool{}, ""
	if given {
		table = g.db.Statement.Table
		stmt.Selects, stmt.Omits = g.db.Statement.Selects, g.db.Statement.Omits
		named, g.restricted = stmt.SelectAndOmitColumns(true, false)
	}
	plan := g.keys.Plan(g.db, s, table)
	if plan.Err != nil {
		return nil, fmt.Errorf("graph: %w", plan.Err)
	}
	for _, c := range plan.Columns {
		if kept, isNamed := named[c.DBName]; kept || !isNamed || c.Field.PrimaryKey {
			c.Name = "table " + s.Table + ": " + c.Name // for errors
			m.columns = append(m.columns, c)
		}
	}
	m.inexact = slices.ContainsFunc(s.PrimaryFields, func(f *schema.Field) bool { return !rows.IsInteger(f.FieldType) })
	m.autoKey = slices.ContainsFunc(s.PrimaryFields, func(f *schema.Field) bool { _, auto := makerOf(f, plan); return auto })
	m.hooks = !g.db.Statement.SkipHooks && (s.BeforeSave || s.BeforeCreate || s.AfterSave || s.AfterCreate)
	r := &s.Relationships
	for _, rel := range slices.Concat(r.BelongsTo, r.HasOne, r.HasMany, r.Many2Many) {
		joinOnly := rel.Type == schema.Many2Many && slices.Contains(stmt.Omits, rel.Name+".*")
		for _, name := range slices.Concat(stmt.Selects, stmt.Omits) {
			if strings.HasPrefix(name, rel.Name+".") && !joinOnly {
				return nil, fmt.Errorf("graph: Select or Omit names %q: name only columns and relations of %s", name, s.Name)
			}
		}
		m.related = append(m.related, rel.Name)
		switch kept, isNamed := named[rel.Name]; {
		case !kept && (isNamed || g.restricted):
		case rel.Type == schema.BelongsTo:
			m.parents = append(m.parents, g.newRelation(rel, joinOnly))
		default:
			m.children = append(m.children, g.newRelation(rel, joinOnly))
		}
	}
	g.models = append(g.models, m)
	return m, nil
}

// makerOf reports whether the plugin or the database makes the value of a field.
func makerOf(f *schema.Field, plan *keys.Plan) (plugin, database bool) {
	plugin = slices.ContainsFunc(plan.Columns, func(c keys.Column) bool { return c.Field == f && c.Source != nil })
	return plugin, !plugin && f.HasDefaultValue && f.DefaultValueInterface == nil
}

// readFields finds the columns whose values may be long, and the embedded pointers.
func (m *model) readFields() {
	short := []schema.DataType{schema.Bool, schema.Int, schema.Uint, schema.Float, schema.Time, "bigint"}
	for _, f := range m.schema.Fields {
		path := f.StructField.Index
		for i := range len(path) - 1 {
			if path[i] < 0 {
				m.embedded = append(m.embedded, path[:i+1])
			}
		}
		switch t, kind := f.IndirectFieldType, f.IndirectFieldType.Kind(); {
		case m.schema.FieldsByDBName[f.DBName] != f: // it has no column
		case f.Serializer == nil && (kind == reflect.String || kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8):
			m.texts = append(m.texts, f)
		case f.Serializer != nil || kind > reflect.Float64 && !slices.Contains(short, f.DataType):
			m.unsure = true
		}
	}
}

// relation is a relation that the walk follows.
type relation struct {
	rel       *schema.Relationship
	role      role              // of the other side
	refs      []reference       // the child's foreign keys; of a many2many: the join row's to the owner
	otherRefs []reference       // of a many2many: the join row's to the other side
	columns   string            // the names of the foreign key's columns
	joined    map[[2]*node]bool // of a many2many: the owner and the other side of its join rows
}

func (g *graph) newRelation(rel *schema.Relationship, joinOnly bool) relation {
	r := relation{rel: rel, role: isShared, joined: map[[2]*node]bool{}}
	switch {
	case joinOnly:
		r.role = isExisting
	case rel.Type == schema.HasOne || rel.Type == schema.HasMany:
		r.role = isChild
	}
	for _, ref := range rel.References {
		copied := reference{constant: reflect.ValueOf(ref.PrimaryValue), to: ref.ForeignKey}
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
