package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// graph is the rows that a value reaches, and how they refer to each other.
type graph struct {
	ctx        context.Context
	db         *gorm.DB // a session of the caller's handle
	keys       *keys.Registry
	upsert     bool // the handle has a conflict clause for the given rows
	joins      bool // include join rows
	restricted bool // the handle has a Select, which leaves out relations that it does not name, as in gorm
	value      any
	roots      []*node
	models     []*model
	byAddress  map[unsafe.Pointer]*node // by the row's address
	edges      []*edge
	nodeSlab   slab[node]
	edgeSlab   slab[edge]
	nodes      []*node            // the rows to write, in the order in which they were reached: mostly parents first
	saved      [][2]reflect.Value // what restore sets, and its value before
}

// role is how a row was reached. It decides how the row is written. Of several, the least counts.
type role uint8

const (
	isRoot     role = iota // it was given
	isChild                // by has-one or has-many
	isShared               // by belongs-to or many2many: other transactions may write it too
	isJoin                 // a join row
	isExisting             // the far side of a join row, which Omit("Tags.*") leaves as it is
)

// node is one row.
type node struct {
	row      reflect.Value // an addressable struct
	model    *model
	role     role
	walked   bool
	loaded   bool   // goroutines may share it
	keyGiven bool   // by this graph
	copied   bool   // Assign has set its foreign keys
	moves    string // the columns of the foreign keys by which a child was reached
	inner    *node  // another row at this address: a struct and its first field have one address
	parents  *edge  // the first edge to a parent
	children *edge  // the first edge to a child
	group    *group // nil: it is not written
	waiting  int32  // how many edges lead to parents that are not placed
	batch    int32  // in which it is written, from 1; 0: not placed
}

// edge says that a column of child refers to parent.
type edge struct {
	child, parent *node
	ref           *reference
	nextParent    *edge // of the child
	nextChild     *edge // of the parent
}

// slab allocates many values at once. Pointers to them stay valid.
type slab[T any] []T

func (s *slab[T]) add(value T) *T {
	if len(*s) == cap(*s) {
		*s = make([]T, 0, min(1024, 8+2*cap(*s)))
	}
	*s = append(*s, value)
	return &(*s)[len(*s)-1]
}

// newGraph finds the rows that a value reaches.
func newGraph(ctx context.Context, db *gorm.DB, value any, joins bool) (*graph, error) {
	if db == nil || db.Config == nil || db.Statement == nil {
		return nil, errors.New("graph: the *gorm.DB is nil")
	}
	registry := keys.RegistryOf(db)
	if registry == nil {
		return nil, errors.New("graph: the plugin is not in use on this handle: call db.Use first")
	}
	if err := cmp.Or(ctx.Err(), db.Error, registry.CheckHome(db)); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	g := &graph{
		ctx: ctx, db: db.Session(&gorm.Session{Context: ctx}), keys: registry, value: value, joins: joins,
		upsert: hasConflictClause(db.Statement), byAddress: map[unsafe.Pointer]*node{},
	}
	if err := g.addRoots(reflect.ValueOf(value), "the value"); err != nil {
		return nil, err
	}
	for i, n := range g.roots {
		if err := g.descend(n); err != nil {
			return nil, err
		}
		if i == 0 { // make room: the others are likely to have as many rows
			more := min(len(g.nodes)*(len(g.roots)-1), 1<<16)
			g.nodes, g.edges = slices.Grow(g.nodes, more), slices.Grow(g.edges, more)
		}
	}
	return g, nil
}

// addRoots adds the rows of a given value. name is for errors.
func (g *graph) addRoots(v reflect.Value, name string) (err error) {
	for (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		v = v.Elem()
	}
	wrong := ""
	switch {
	case !v.IsValid():
		wrong = "nil"
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		wrong = "a nil " + keys.TypeName(v.Type())
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		for i := 0; i < v.Len() && err == nil; i++ {
			err = g.addRoots(v.Index(i), fmt.Sprint("row ", i))
		}
		return err
	case v.Kind() != reflect.Struct:
		wrong = "a " + keys.TypeName(v.Type()) + ", not a model"
	case !v.CanAddr():
		wrong = "a " + keys.TypeName(v.Type()) + " by value: give a pointer to it"
	}
	if wrong != "" {
		return fmt.Errorf("graph: %s is %s: %w", name, wrong, gorm.ErrInvalidValue)
	}
	var m *model
	if n := len(g.roots); n > 0 && g.roots[n-1].row.Type() == v.Type() {
		m = g.roots[n-1].model
	} else {
		stmt := &gorm.Statement{DB: g.db}
		if err := stmt.Parse(v.Addr().Interface()); err != nil {
			return fmt.Errorf("graph: %s is no model: %w", name, err)
		}
		if m, err = g.modelOf(stmt.Schema, true); err != nil {
			return err
		}
	}
	g.roots = append(g.roots, g.nodeOf(v, m, isRoot))
	return nil
}

// descend follows the relations of a row: first those to its parents, then those to its children.
func (g *graph) descend(n *node) error {
	if n.walked || n.role == isExisting {
		return nil
	}
	n.walked = true
	if err := g.follow(n, n.model.parents); err != nil {
		return err
	}
	g.nodes = append(g.nodes, n)
	return g.follow(n, n.model.children)
}

// follow descends to the rows that relations of a row lead to.
func (g *graph) follow(owner *node, relations []relation) error {
	for i := range relations {
		rel := &relations[i]
		v := rows.Field(owner.row, rel.rel.Field.StructField.Index)
		if !v.IsValid() || v.IsZero() {
			continue // as in gorm, also for a struct by value
		}
		to, err := g.modelOf(rel.rel.FieldSchema, false)
		if err != nil {
			return err
		}
		for k, row := range rows.List(rows.Indirect(v)) {
			if !row.IsValid() {
				return fmt.Errorf("graph: %s.%s[%d] is nil: %w", owner.model.schema.Name, rel.rel.Name, k, gorm.ErrInvalidData)
			}
			n := g.nodeOf(row, to, rel.role)
			switch {
			case rel.rel.JoinTable != nil:
				err = g.addJoinRow(owner, n, rel)
			case rel.role == isShared:
				g.addEdge(owner, n, rel.refs)
			default:
				n.moves = union(n.moves, rel.columns)
				g.addEdge(n, owner, rel.refs)
			}
			if err = cmp.Or(err, g.descend(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// union returns the columns of two lists.
func union(columns, others string) string {
	if columns == "" || columns == others {
		return others
	}
	for other := range strings.SplitSeq(others, ",") {
		if !slices.Contains(strings.Split(columns, ","), other) {
			columns += "," + other
		}
	}
	return columns
}

// nodeOf returns the node of a row. Rows of different models may have one address.
func (g *graph) nodeOf(v reflect.Value, m *model, reached role) *node {
	at := v.Addr().UnsafePointer()
	outer := g.byAddress[at]
	for n := outer; n != nil; n = n.inner {
		if n.model.schema == m.schema {
			n.role = min(n.role, reached)
			return n
		}
	}
	n := g.nodeSlab.add(node{row: v, model: m, role: reached, inner: outer})
	g.byAddress[at] = n
	return n
}

// addEdge adds the edges of a relation. Of several parents that set one column, the last one that the
// walk reaches counts. gorm may choose another of them if they are at different depths.
func (g *graph) addEdge(child, parent *node, refs []reference) {
	for i := range refs {
		e := child.parents
		for e != nil && e.ref.to != refs[i].to {
			e = e.nextParent
		}
		if e == nil {
			e = g.edgeSlab.add(edge{child: child, nextParent: child.parents})
			child.parents, g.edges = e, append(g.edges, e)
		}
		e.parent, e.ref = parent, &refs[i]
	}
}

// addJoinRow adds the join row of two rows, once. Its own relations are not followed, as in gorm.
func (g *graph) addJoinRow(owner, other *node, rel *relation) error {
	both := [2]*node{owner, other}
	if !g.joins || rel.joined[both] {
		return nil
	}
	rel.joined[both] = true
	m, err := g.modelOf(rel.rel.JoinTable, false)
	if err != nil {
		return err
	}
	n := g.nodeOf(reflect.New(rel.rel.JoinTable.ModelType).Elem(), m, isJoin)
	g.addEdge(n, owner, rel.refs)
	g.addEdge(n, other, rel.otherRefs)
	return g.descend(n)
}
