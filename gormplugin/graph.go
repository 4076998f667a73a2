package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Assign gives every row of a graph its key, and every row its foreign keys, and
// writes nothing. value is a pointer to a model, or a slice of models or of
// pointers to them; the graph is all that can be reached from it by belongs-to,
// has-one, has-many, many2many and polymorphic relations, to any depth. A row
// that is reached more than once, also in a circle, is one row.
//
// All keys that are zero come from one reservation of each source, in an order
// that depends on the graph alone: what a row belongs to, the row, its details in the order
// of gorm's relations and of their slices. A key that is set is never changed.
// Foreign keys, and the type of a polymorphic relation, are overwritten with what
// they refer to, as gorm does; one that refers to a key which the database makes
// (auto-increment) is left to [Create]. A Select or Omit on db leaves relations out as in
// gorm's Create, and what is left out is not touched.
//
// On an error nothing is changed. A nil pointer in place of a row is an error; a
// nil relation is none. So is a row by value, for it cannot be given a key.
// A nil context is one without an end. The context that db was given counts as well: when
// either is done, Assign and Create end with its error. Values are those of ctx.
func Assign(ctx context.Context, db *gorm.DB, value any) error {
	g, err := newGraph(ctx, db, value)
	if err != nil {
		return err
	}
	defer g.end()
	if err := g.assignAll(); err != nil {
		g.undo.restore()
		return err
	}
	return nil
}

// graph is the rows that a value leads to, and how they refer to each other.
type graph struct {
	ctx    context.Context
	end    func() // when all is done
	db     *gorm.DB
	plugin *Plugin
	shapes map[shapeID]*shape
	starts []start
	given  map[*schema.Schema]bool // the models of the starts
	joins  bool                    // walk to join rows as well

	nodes    map[unsafe.Pointer]*node // by the row's address
	slab     []node                   // where the next nodes are made
	joinRows map[joinID]reflect.Value
	walks    int // how often it was walked
	attempt  int // to write it, from 1
	order    []*node
	edges    []edge
	broken   map[edgeID]bool  // the edges that are set later, however often it is walked
	later    map[*node][]edge // them, by their child
	stack    []frame
	undo     undoLog
	moved    bool // a key changed after the foreign keys were copied
	special  bool // the handle says more of the given rows than that they be inserted
}

type start struct {
	row   reflect.Value
	shape *shape
}

type joinID struct {
	rel           *schema.Relationship
	owner, target *node
}

// role is how a row was reached; the least decides how it is written.
type role uint8

const (
	isRoot   role = iota
	isDetail      // by has-one or has-many
	isOther       // by belongs-to or many2many
	isJoin
	isLeftOut // to be joined, not written
)

type state uint8

const (
	pending state = iota
	begun         // its hooks ran
	written
)

// node is one row.
type node struct {
	row   reflect.Value // an addressable struct
	shape *shape
	role  role
	state state
	fresh bool  // its key was given by us
	walk  int   // the last walk that met it
	by    *step // of a detail: how it was reached
	inner *node // another row at the same address: a struct and its first field share it

	// Of the schedule.
	group *group
	slot  int     // in the group
	waits int     // for how many rows
	kids  []*node // who waits for this one
	fan   int     // how many they will be
	twin  *node   // another row of the same key, which is written for both
	batch *batch  // once it is begun
}

// edge says that child holds a foreign key of parent.
type edge struct {
	child, parent *node
	links         *[]link
	belongs       bool // the relation is the child's
	later         bool // it is set by an UPDATE when all is written
}

// frame is one row on the way down.
type frame struct {
	n          *node
	step, elem int
	numbered   bool
}

var errNilDB = errors.New("gormplugin: the *gorm.DB is nil")

func newGraph(ctx context.Context, db *gorm.DB, value any) (*graph, error) {
	if db == nil || db.Config == nil || db.Statement == nil {
		return nil, errNilDB
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if db.Error != nil {
		return nil, db.Error
	}
	p, ok := db.Plugins[pluginName].(*Plugin)
	if !ok {
		return nil, errors.New("gormplugin: the plugin is not in use on this handle: call db.Use first")
	}
	ctx, end := both(ctx, db.Statement.Context)
	// A session of its own: the caller's handle is only read.
	db = db.Session(&gorm.Session{Context: ctx})
	g := &graph{
		ctx: ctx, end: end, db: db, plugin: p,
		given:    map[*schema.Schema]bool{},
		shapes:   map[shapeID]*shape{},
		joinRows: map[joinID]reflect.Value{},
	}
	v := reflect.ValueOf(value)
	if err := g.addStarts(v, -1); err != nil {
		end()
		return nil, err
	}
	if len(g.starts) == 0 && (!v.IsValid() || reflect.Indirect(v).Kind() != reflect.Slice) {
		end()
		return nil, fmt.Errorf("gormplugin: %s: %w", valueType(value), gorm.ErrInvalidValue)
	}
	return g, nil
}

// addStarts finds the rows that were given. at is the place among them, or -1.
func (g *graph) addStarts(v reflect.Value, at int) error {
	what := func() string {
		if at < 0 {
			return "the value"
		}
		return fmt.Sprintf("row %d", at)
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return fmt.Errorf("gormplugin: %s is a nil %s: %w", what(), typeName(v.Type()), gorm.ErrInvalidValue)
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		g.starts = slices.Grow(g.starts, v.Len())
		for i := range v.Len() {
			if err := g.addStarts(v.Index(i), i); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		if !v.CanAddr() {
			return fmt.Errorf("gormplugin: %s is a %s by value: give a pointer to it", what(), typeName(v.Type()))
		}
		if n := len(g.starts); n > 0 && g.starts[n-1].row.Type() == v.Type() {
			g.starts = append(g.starts, start{v, g.starts[n-1].shape})
			return nil
		}
		stmt := &gorm.Statement{DB: g.db}
		if err := stmt.Parse(v.Addr().Interface()); err != nil {
			return fmt.Errorf("gormplugin: %s: %w", what(), err)
		}
		g.given[stmt.Schema] = true
		sh, err := g.shapeOf(stmt.Schema, scope{selects: g.db.Statement.Selects, omits: g.db.Statement.Omits})
		if err != nil {
			return err
		}
		g.starts = append(g.starts, start{v, sh})
		return nil
	case reflect.Invalid:
		return fmt.Errorf("gormplugin: %s is nil: %w", what(), gorm.ErrInvalidValue)
	}
	return fmt.Errorf("gormplugin: %s is a %s, not a model: %w", what(), typeName(v.Type()), gorm.ErrInvalidValue)
}

// walk finds all rows and how they refer to each other. It may be called again
// when hooks have changed the rows: rows known from before keep their state.
func (g *graph) walk() error {
	if g.walks == 0 {
		g.makeRoom()
	}
	g.walks++
	g.order, g.edges = g.order[:0], g.edges[:0]
	for _, s := range g.starts {
		if n, first := g.meet(s.row, s.shape, isRoot); first {
			g.stack = append(g.stack[:0], frame{n: n})
			if err := g.descend(); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeRoom is for as many rows as were given and stand in their lists; what lies
// deeper, or is found by a single relation, makes room for itself.
func (g *graph) makeRoom() {
	n := len(g.starts)
	for _, s := range g.starts {
		for i := range s.shape.steps {
			if st := &s.shape.steps[i]; st.isList() {
				if list := indirect(fieldAt(s.row, st.rel.Field.StructField.Index)); list.IsValid() {
					n += list.Len()
				}
			}
		}
	}
	g.nodes = make(map[unsafe.Pointer]*node, n)
	g.slab = make([]node, 0, n)
	g.order = make([]*node, 0, n)
	g.edges = make([]edge, 0, n)
}

// descend is a walk in depth on a stack of its own: a list may be long.
func (g *graph) descend() error {
	for len(g.stack) > 0 {
		f := &g.stack[len(g.stack)-1]
		sh := f.n.shape
		if f.step == sh.belongs && !f.numbered {
			g.order = append(g.order, f.n) // after what it belongs to, before its details
			f.numbered = true
		}
		if f.step == len(sh.steps) {
			g.stack = g.stack[:len(g.stack)-1]
			continue
		}
		st := &sh.steps[f.step]
		elem := f.elem
		v := fieldAt(f.n.row, st.rel.Field.StructField.Index)
		if st.isList() {
			for v.IsValid() && v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			if !v.IsValid() || elem >= v.Len() {
				f.step, f.elem = f.step+1, 0
				continue
			}
			f.elem++
			v = v.Index(elem)
		} else {
			f.step++
			if !v.IsValid() || v.IsZero() {
				continue // as in gorm, also of a struct by value
			}
		}
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return fmt.Errorf("gormplugin: %s.%s[%d] is nil: %w", sh.schema.Name, st.rel.Name, elem, gorm.ErrInvalidData)
			}
			v = v.Elem()
		}
		if err := g.follow(f.n, st, v); err != nil {
			return err
		}
	}
	return nil
}

// follow notes the reference between owner and other, and goes there if it is new.
func (g *graph) follow(owner *node, st *step, v reflect.Value) error {
	if st.to == nil {
		sh, err := g.shapeOf(st.rel.FieldSchema, st.child)
		if err != nil {
			return err
		}
		st.to = sh
	}
	as := isDetail
	switch {
	case st.skipOther:
		as = isLeftOut
	case st.kind == belongsTo || st.kind == manyToMany:
		as = isOther
	}
	n, first := g.meet(v, st.to, as)
	switch st.kind {
	case belongsTo:
		g.edges = append(g.edges, edge{child: owner, parent: n, links: &st.down, belongs: true})
	case manyToMany:
		if err := g.joined(owner, n, st); err != nil {
			return err
		}
	default:
		if n.by == nil {
			n.by = st
		}
		g.edges = append(g.edges, edge{child: n, parent: owner, links: &st.down})
	}
	if first {
		g.stack = append(g.stack, frame{n: n})
	}
	return nil
}

// meet is the node of a row; first says that this walk was not there yet.
func (g *graph) meet(v reflect.Value, sh *shape, as role) (n *node, first bool) {
	at := v.Addr().UnsafePointer()
	outer := g.nodes[at]
	n = outer
	for n != nil && n.shape.schema != sh.schema {
		n = n.inner
	}
	if n == nil {
		if len(g.slab) == cap(g.slab) {
			g.slab = make([]node, 0, min(1024, 16+2*len(g.nodes)))
		}
		g.slab = append(g.slab, node{row: v, shape: sh, role: as, inner: outer})
		n = &g.slab[len(g.slab)-1]
		g.nodes[at] = n
	}
	if n.walk == g.walks {
		if n.role == isLeftOut && as != isLeftOut { // it was not descended to
			n.role, n.walk = as, g.walks
			return n, true
		}
		n.role = min(n.role, as)
		return n, false
	}
	n.walk, n.role = g.walks, as
	return n, as != isLeftOut
}

// joined adds the join row of two rows, once.
func (g *graph) joined(owner, other *node, st *step) error {
	if !g.joins {
		return nil
	}
	id := joinID{st.rel, owner, other}
	row, known := g.joinRows[id]
	if !known {
		row = reflect.New(st.rel.JoinTable.ModelType).Elem()
		g.joinRows[id] = row
	}
	sh, err := g.shapeOf(st.rel.JoinTable, scope{})
	if err != nil {
		return err
	}
	if n, first := g.meet(row, sh, isJoin); first {
		g.order = append(g.order, n) // its relations are left alone, as in gorm's own create of it
		g.edges = append(g.edges,
			edge{child: n, parent: owner, links: &st.join},
			edge{child: n, parent: other, links: &st.joinOther})
	}
	return nil
}
