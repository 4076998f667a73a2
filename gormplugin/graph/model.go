package graph

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// scope is what Select and Omit say of a model, as seen from a row of it: "Lines.SKU" for an
// order is "SKU" for its lines. The zero scope keeps all.
type scope struct{ selects, omits []string }

func (s scope) String() string {
	if len(s.selects) == 0 && len(s.omits) == 0 {
		return ""
	}
	return strings.Join(s.selects, "\x00") + "\x01" + strings.Join(s.omits, "\x00")
}

// childScope is what gorm passes to the create of an association.
func childScope(relation string, selected rows.Selection) (sc scope) {
	for name, wanted := range selected.Named {
		column, ok := strings.CutPrefix(name, relation+".")
		switch {
		case !ok || column == "":
		case wanted:
			sc.selects = append(sc.selects, column)
		default:
			sc.omits = append(sc.omits, column)
		}
	}
	slices.Sort(sc.selects)
	slices.Sort(sc.omits)
	if len(sc.selects) == 0 && len(sc.omits) == 0 && selected.Restricted {
		sc.omits = []string{clause.Associations}
	}
	return sc
}

// model is what the graph must know of a model in a scope.
type model struct {
	schema     *schema.Schema
	scope      scope
	columns    []keys.Column // those that are filled or must be set
	relations  []relation
	belongsTo  int             // the first relations are the belongs-to relations
	foreignKey bool            // a part of its key is another row's
	autoKey    bool            // the database makes its key
	unique     []keys.Unique   // what the tags declare unique, beside the key
	unkeyed    error           // under Config.Strict: why the key is not filled
	related    []string        // the names of all relations
	omitted    []string        // the columns that Select and Omit keep out of the INSERT
	texts      []*schema.Field // whose values are measured
	unsure     bool            // the length of a column's values is not known
}

type modelID struct {
	schema *schema.Schema
	scope  string
}

// modelOf makes the model on its first use in the graph.
func (g *graph) modelOf(s *schema.Schema, sc scope) (*model, error) {
	id := modelID{s, sc.String()}
	if known, ok := g.models[id]; ok {
		return known, nil
	}
	plan := g.keys.Plan(s, g.tableOf(s))
	if plan.Err != nil {
		return nil, fmt.Errorf("graph: %w", plan.Err)
	}
	m := &model{schema: s, scope: sc}
	selected := rows.SelectedInCreate(&gorm.Statement{DB: g.db, Schema: s, Table: s.Table, Selects: sc.selects, Omits: sc.omits})
	for _, c := range plan.Columns {
		if c.Source != nil && selected.Omits(c.DBName) {
			if c.Field.PrimaryKey {
				return nil, fmt.Errorf("graph: %s is left out by Omit: the row would be written under another key", c.Name)
			}
			continue
		}
		m.columns = append(m.columns, c)
		m.foreignKey = m.foreignKey || c.Source == nil
	}
	m.unkeyed = g.keys.CheckStrict(s, g.tableOf(s))
	for _, name := range s.DBNames {
		if !selected.Has(name) {
			m.omitted = append(m.omitted, name)
		}
	}
	m.measure()
	for _, f := range s.PrimaryFields {
		m.autoKey = m.autoKey || isAuto(f, m.columns)
	}
	var err error
	if m.unique, err = g.keys.Uniques(g.db, s); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		kind relationKind
		rels []*schema.Relationship
	}{
		{belongsTo, s.Relationships.BelongsTo},
		{hasOne, s.Relationships.HasOne},
		{hasMany, s.Relationships.HasMany},
		{manyToMany, s.Relationships.Many2Many},
	} {
		for _, rel := range part.rels {
			m.related = append(m.related, rel.Name)
			if selected.Has(rel.Name) {
				m.relations = append(m.relations, g.newRelation(rel, part.kind, selected))
			}
		}
		if part.kind == belongsTo {
			m.belongsTo = len(m.relations)
		}
	}
	g.models[id] = m
	return m, nil
}

// tableOf returns the table that db.Table names for the rows that were given. Other rows of
// their model are filled by the model's own table.
func (g *graph) tableOf(s *schema.Schema) string {
	if g.rootSchemas[s] {
		return g.db.Statement.Table
	}
	return ""
}

// isAuto reports whether the database makes the value of a field.
func isAuto(f *schema.Field, columns []keys.Column) bool {
	if !f.HasDefaultValue || f.DefaultValueInterface != nil {
		return false
	}
	return !slices.ContainsFunc(columns, func(c keys.Column) bool { return c.Field == f && c.Source != nil })
}
