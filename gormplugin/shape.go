package gormplugin

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

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
	belongs int  // the first steps are its belongs-to relations
	shared  bool // a part of its key is another row's
	late    bool // the database makes its key
	unique  bool // a unique index is declared beside the key
	columns int
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
	down      []link   // to the detail or, of a belongs-to, to the owner
	join      []link   // of a many2many: from the owner to the join row
	joinOther []link   // and from the other side
	updates   []string // the foreign key's columns
	skipOther bool     // of a many2many: Omit("Tags.*") writes the join rows alone
}

// link copies one column of a reference.
type link struct {
	from  *schema.Field // nil: the constant
	value string
	to    *schema.Field
	late  bool // from is made by the database
}

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
	targets, err := g.plugin.keysOf(s)
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
	for _, f := range s.PrimaryFields {
		sh.late = sh.late || g.isLate(sh, f)
	}
	unique, err := g.plugin.uniques(g.db, s)
	if err != nil {
		return nil, err
	}
	sh.unique = len(unique) > 0
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
			// gorm's own rule of what Select and Omit leave out.
			if v, ok := columns[rel.Name]; (ok && !v) || (!ok && restricted) {
				continue
			}
			sh.steps = append(sh.steps, g.newStep(sh, rel, part.kind, columns, restricted))
		}
		if part.kind == belongsTo {
			sh.belongs = len(sh.steps)
		}
	}
	return sh, nil
}

func (g *graph) newStep(sh *shape, rel *schema.Relationship, kind stepKind, columns map[string]bool, restricted bool) step {
	st := step{rel: rel, kind: kind, child: childScope(rel.Name, columns, restricted)}
	for _, ref := range rel.References {
		l := link{from: ref.PrimaryKey, value: ref.PrimaryValue, to: ref.ForeignKey}
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
	targets := []target(nil)
	if sh != nil {
		targets = sh.targets
	} else {
		targets, _ = g.plugin.keysOf(f.Schema) // the error is that of its own shape
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

// uniqueCache keeps, for each schema, the sets of columns that its tags declare
// unique, the key excepted.
type uniqueCache struct{ bySchema sync.Map }

func (p *Plugin) uniques(db *gorm.DB, s *schema.Schema) ([][]*schema.Field, error) {
	if known, ok := p.unique.bySchema.Load(s); ok {
		return known.([][]*schema.Field), nil
	}
	sets, err := declaredUniques(db, s)
	if err != nil {
		return nil, err
	}
	p.unique.bySchema.Store(s, sets)
	return sets, nil
}

func declaredUniques(db *gorm.DB, s *schema.Schema) (sets [][]*schema.Field, err error) {
	for _, f := range s.Fields {
		if f.Unique && !f.PrimaryKey && f.DBName != "" {
			sets = append(sets, []*schema.Field{f})
		}
	}
	if s.ModelType.Name() == "" {
		return sets, nil // a join table that gorm made
	}
	// ParseIndexes writes to the schema, which others may be reading: it gets one of its own.
	own, err := schema.Parse(reflect.New(s.ModelType).Interface(), new(sync.Map), db.NamingStrategy)
	if err != nil {
		return nil, fmt.Errorf("gormplugin: %s: %w", s.Name, err)
	}
	for _, index := range own.ParseIndexes() {
		if index.Class != "UNIQUE" || index.Where != "" {
			continue
		}
		var set []*schema.Field
		for _, option := range index.Fields {
			f := s.FieldsByDBName[option.DBName]
			if option.Expression != "" || f == nil {
				set = nil
				break
			}
			set = append(set, f)
		}
		if len(set) > 0 {
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// fieldAt is the field's value, or the zero Value behind a nil embedded pointer.
// gorm's ReflectValueOf would make what the pointer points to.
func fieldAt(row reflect.Value, index []int) reflect.Value {
	for i, x := range index {
		if x >= 0 {
			row = row.Field(x)
			continue
		}
		row = row.Field(-x - 1)
		if i < len(index)-1 {
			if row.IsNil() {
				return reflect.Value{}
			}
			row = row.Elem()
		}
	}
	return row
}

// copy sets the child's column to what the parent's holds.
func (l *link) copy(ctx context.Context, parent, child reflect.Value, log *undoLog) error {
	if l.from == nil {
		leaf := l.to.ReflectValueOf(ctx, child)
		if leaf.Kind() == reflect.String && leaf.String() == l.value {
			return nil
		}
		log.save(leaf)
		return l.to.Set(ctx, child, l.value)
	}
	from := fieldAt(parent, l.from.StructField.Index)
	if l.late && (!from.IsValid() || from.IsZero()) {
		return nil
	}
	leaf := l.to.ReflectValueOf(ctx, child)
	if id, ok := integer(from); ok && isInteger(leaf.Type()) {
		if now, ok := integer(leaf); ok && now == id {
			return nil
		}
		log.save(leaf)
		if leaf.Kind() == reflect.Pointer {
			// A new one: what it pointed to may be another row's.
			leaf.Set(reflect.New(leaf.Type().Elem()))
			leaf = leaf.Elem()
		}
		if leaf.CanInt() {
			leaf.SetInt(id)
		} else {
			leaf.SetUint(uint64(id))
		}
		return nil
	}
	value, _ := l.from.ValueOf(ctx, parent)
	log.save(leaf)
	if leaf.Kind() == reflect.Pointer {
		leaf.SetZero()
	}
	if err := l.to.Set(ctx, child, value); err != nil {
		return err
	}
	log.dropIfSame()
	return nil
}

// isInteger reports whether the type is one of 64 bits, or a pointer to one.
func isInteger(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Uint64:
		return true
	case reflect.Int, reflect.Uint:
		return t.Bits() == 64
	}
	return false
}

func integer(v reflect.Value) (int64, bool) {
	if !v.IsValid() || !isInteger(v.Type()) {
		return 0, false
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0, false
		}
		v = v.Elem()
	}
	if v.CanInt() {
		return v.Int(), true
	}
	return int64(v.Uint()), true
}
