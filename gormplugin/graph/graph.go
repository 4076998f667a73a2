package graph

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// graph is the rows that a value leads to, and how they refer to each other.
type graph struct {
	ctx  context.Context
	db   *gorm.DB // a session of the caller's handle
	keys *keys.Registry

	models map[modelID]*model
	roots  []*node
	joins  bool // include join rows
	upsert bool // the handle has a conflict clause for the given rows

	nodes  map[unsafe.Pointer]*node // by the row's address
	slab   []node                   // where the next nodes are allocated
	edges  []edge
	joined map[joinID]bool
	order  []*node // the rows to write, as they were met: mostly parents first
}

// role is how a row was reached. If there are several ways, the least role decides how the row is
// written.
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
	keyGiven bool      // by this graph
	via      *relation // how a child was reached
	inner    *node     // another row at the same address: a struct and its first field share it

	edges, last int32 // the first and the last edge to a parent, from 1

	// The order.
	group *group
	batch int32 // from 1, or 0: not placed
	tried int32 // the last batch for which it was tried
}

// edge says that child holds a foreign key of parent.
type edge struct {
	child, parent *node
	refs          *[]reference
	next          int32 // the next edge of the child, from 1
}

// joinID identifies a join row.
type joinID struct {
	rel           *schema.Relationship
	owner, target *node
}

// newGraph finds the given rows.
func newGraph(ctx context.Context, db *gorm.DB, value any) (*graph, error) {
	if db == nil || db.Config == nil || db.Statement == nil {
		return nil, errors.New("graph: the *gorm.DB is nil")
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	if db.Error != nil {
		return nil, db.Error
	}
	registry := keys.Of(db)
	if registry == nil {
		return nil, errors.New("graph: the plugin is not in use on this handle: call db.Use first")
	}
	db = db.Session(&gorm.Session{Context: ctx}) // the caller's handle is only read
	g := &graph{
		ctx: ctx, db: db, keys: registry, upsert: hasConflictClause(db.Statement),
		models: map[modelID]*model{}, nodes: map[unsafe.Pointer]*node{}, joined: map[joinID]bool{},
	}
	v := reflect.ValueOf(value)
	if err := g.addRoots(v, "the value"); err != nil {
		return nil, err
	}
	if len(g.roots) == 0 && reflect.Indirect(v).Kind() != reflect.Slice {
		return nil, fmt.Errorf("graph: %s: %w", keys.TypeName(reflect.TypeOf(value)), gorm.ErrInvalidValue)
	}
	return g, nil
}

// again returns a graph of the same given rows that has not been walked.
func (g *graph) again() *graph {
	again := &graph{
		ctx: g.ctx, db: g.db, keys: g.keys, models: g.models, joins: g.joins,
		nodes: make(map[unsafe.Pointer]*node, len(g.nodes)), joined: map[joinID]bool{},
	}
	for _, n := range g.roots {
		again.roots = append(again.roots, again.nodeOf(n.row, n.model, isRoot))
	}
	return again
}

// addRoots adds the rows of a value that was given. name is for errors.
func (g *graph) addRoots(v reflect.Value, name string) error {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return fmt.Errorf("graph: %s is a nil %s: %w", name, keys.TypeName(v.Type()), gorm.ErrInvalidValue)
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		g.roots = slices.Grow(g.roots, v.Len())
		for i := range v.Len() {
			if elem := v.Index(i); elem.Kind() == reflect.Struct && i > 0 && elem.CanAddr() {
				g.roots = append(g.roots, g.nodeOf(elem, g.roots[len(g.roots)-1].model, isRoot)) // the type is known
			} else if err := g.addRoots(elem, fmt.Sprintf("row %d", i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		if !v.CanAddr() {
			return fmt.Errorf("graph: %s is a %s by value: give a pointer to it", name, keys.TypeName(v.Type()))
		}
		stmt := &gorm.Statement{DB: g.db}
		if err := stmt.Parse(v.Addr().Interface()); err != nil {
			return fmt.Errorf("graph: %s: %w", name, err)
		}
		m, err := g.modelOf(stmt.Schema, asGiven)
		if err != nil {
			return err
		}
		g.roots = append(g.roots, g.nodeOf(v, m, isRoot))
		return nil
	case reflect.Invalid:
		return fmt.Errorf("graph: %s is nil: %w", name, gorm.ErrInvalidValue)
	}
	return fmt.Errorf("graph: %s is a %s, not a model: %w", name, keys.TypeName(v.Type()), gorm.ErrInvalidValue)
}
