package gormplugin

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// scope is what Select and Omit leave of a model, seen from one place of the
// graph: "Lines.SKU" on an order is "SKU" on its lines. The zero scope is all.
type scope struct{ selects, omits []string }

func (s scope) key() string {
	if len(s.selects) == 0 && len(s.omits) == 0 {
		return ""
	}
	return strings.Join(s.selects, "\x00") + "\x01" + strings.Join(s.omits, "\x00")
}

// shape is what the walk must know of a model in a scope.
type shape struct {
	schema  *schema.Schema
	scope   scope
	id      string // of the scope
	targets []target
	steps   []step
	belongs int      // the first steps are its belongs-to relations
	shared  bool     // a part of its key is another row's
	late    bool     // the database makes its key
	unique  []unique // what the tags declare unique beside the key
	unkeyed error    // under Config.Strict: why the key is not filled
	columns int
	related []string // the names of all relations
	unset   []string // the columns that Select and Omit keep out of the INSERT
}

type stepKind uint8

const (
	belongsTo stepKind = iota
	hasOne
	hasMany
	manyToMany
)

// step is one relation to be followed.
type step struct {
	rel       *schema.Relationship
	kind      stepKind
	child     scope
	to        *shape   // the other side, once it was met
	down      []link   // to the detail or, of a belongs-to, to the owner
	join      []link   // of a many2many: from the owner to the join row
	joinOther []link   // and from the other side
	updates   []string // the foreign key's columns
	skipOther bool     // of a many2many: Omit("Tags.*") writes the join rows alone
}

func (st *step) isList() bool { return st.kind == hasMany || st.kind == manyToMany }

type shapeID struct {
	schema *schema.Schema
	scope  string
}

// shapeOf works a shape out once for each graph.
func (g *graph) shapeOf(s *schema.Schema, sc scope) (*shape, error) {
	id := shapeID{s, sc.key()}
	if known, ok := g.shapes[id]; ok {
		return known, nil
	}
	sh, err := g.newShape(s, sc, id.scope)
	if err != nil {
		return nil, err
	}
	g.shapes[id] = sh
	return sh, nil
}

func (g *graph) newShape(s *schema.Schema, sc scope, id string) (*shape, error) {
	targets, err := g.keysOf(s)
	if err != nil {
		return nil, err
	}
	sh := &shape{schema: s, scope: sc, id: id, columns: len(s.DBNames)}
	stmt := &gorm.Statement{DB: g.db, Schema: s, Table: s.Table, Selects: sc.selects, Omits: sc.omits}
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	for _, t := range targets {
		if wanted, said := columns[t.column]; said && !wanted && t.source != nil {
			if t.field.PrimaryKey {
				return nil, fmt.Errorf("gormplugin: %s is left out by Omit: the row would be written under another key", t.name)
			}
			continue
		}
		sh.targets = append(sh.targets, t)
		sh.shared = sh.shared || t.source == nil
	}
	table := g.tableOf(s)
	sh.unkeyed = g.plugin.checkStrict(s, table, g.plugin.plan(s, table))
	for _, name := range s.DBNames {
		if wanted, said := columns[name]; said && !wanted || !said && restricted {
			sh.unset = append(sh.unset, name)
		}
	}
	for _, f := range s.PrimaryFields {
		sh.late = sh.late || g.isLate(sh, f)
	}
	if sh.unique, err = g.plugin.uniques(g.db, s); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		kind stepKind
		rels []*schema.Relationship
	}{
		{belongsTo, s.Relationships.BelongsTo},
		{hasOne, s.Relationships.HasOne},
		{hasMany, s.Relationships.HasMany},
		{manyToMany, s.Relationships.Many2Many},
	} {
		for _, rel := range part.rels {
			sh.related = append(sh.related, rel.Name)
			// gorm's own rule of what Select and Omit leave out.
			if v, ok := columns[rel.Name]; (ok && !v) || (!ok && restricted) {
				continue
			}
			sh.steps = append(sh.steps, g.newStep(rel, part.kind, columns, restricted))
		}
		if part.kind == belongsTo {
			sh.belongs = len(sh.steps)
		}
	}
	return sh, nil
}

// keysOf knows that db.Table holds for the rows that were given. Others of their
// model are filled as they are.
func (g *graph) keysOf(s *schema.Schema) ([]target, error) { return g.plugin.keysIn(s, g.tableOf(s)) }

func (g *graph) tableOf(s *schema.Schema) string {
	if g.given[s] {
		return g.db.Statement.Table
	}
	return ""
}

func (g *graph) newStep(rel *schema.Relationship, kind stepKind, columns map[string]bool, restricted bool) step {
	st := step{rel: rel, kind: kind, child: childScope(rel.Name, columns, restricted)}
	for _, ref := range rel.References {
		l := link{from: ref.PrimaryKey, value: ref.PrimaryValue, to: ref.ForeignKey, text: makesRune(ref)}
		if ref.PrimaryKey != nil && ref.PrimaryValue == "" {
			l.late = g.isLate(nil, ref.PrimaryKey)
		}
		if ref.PrimaryValue != "" {
			l.from = nil
		}
		switch own := ref.OwnPrimaryKey || ref.PrimaryValue != ""; {
		case kind == manyToMany && own:
			st.join = append(st.join, l)
		case kind == manyToMany:
			st.joinOther = append(st.joinOther, l)
		case own || kind == belongsTo:
			st.down = append(st.down, l)
		}
		st.updates = append(st.updates, ref.ForeignKey.DBName)
	}
	if kind == manyToMany {
		v, said := columns[rel.Name+".*"]
		if st.skipOther = said && !v; st.skipOther {
			st.child = scope{}
		}
	}
	return st
}

// isLate reports whether a column gets its value from the database.
func (g *graph) isLate(sh *shape, f *schema.Field) bool {
	if !f.HasDefaultValue || f.DefaultValueInterface != nil {
		return false
	}
	var targets []target
	if sh != nil {
		targets = sh.targets
	} else {
		targets, _ = g.keysOf(f.Schema) // the error is that of its own shape
	}
	return !slices.ContainsFunc(targets, func(t target) bool { return t.field == f && t.source != nil })
}

// childScope is what gorm hands down to the create of an association.
func childScope(relation string, columns map[string]bool, restricted bool) (sc scope) {
	for name, wanted := range columns {
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
	if len(sc.selects) == 0 && len(sc.omits) == 0 && restricted {
		sc.omits = []string{clause.Associations}
	}
	return sc
}
