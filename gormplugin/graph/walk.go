package graph

import (
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// walk finds all rows and how they refer to each other.
func (g *graph) walk() error {
	for _, n := range g.roots {
		if err := g.descend(n); err != nil {
			return err
		}
	}
	return nil
}

// descend follows the relations of a row: first those to its parents, then those to its children.
func (g *graph) descend(n *node) error {
	if n.walked || n.role == isExisting {
		return nil
	}
	n.walked = true
	relations, parents := n.model.relations, n.model.parents
	for i := range parents {
		if err := g.follow(n, &relations[i]); err != nil {
			return err
		}
	}
	g.order = append(g.order, n)
	for i := parents; i < len(relations); i++ {
		if err := g.follow(n, &relations[i]); err != nil {
			return err
		}
	}
	return nil
}

// follow visits the rows that a relation leads to.
func (g *graph) follow(owner *node, rel *relation) error {
	v := rows.Field(owner.row, rel.rel.Field.StructField.Index)
	if !v.IsValid() || v.IsZero() {
		return nil // as in gorm, also for a struct by value
	}
	if rel.rel.Type != schema.HasMany && rel.rel.Type != schema.Many2Many {
		return g.visit(owner, rel, v, 0)
	}
	v = rows.Indirect(v)
	g.reserve(v.Len())
	for i := range v.Len() {
		if err := g.visit(owner, rel, v.Index(i), i); err != nil {
			return err
		}
	}
	return nil
}

// visit adds the edge between owner and a row of a relation, and descends to the row.
func (g *graph) visit(owner *node, rel *relation, v reflect.Value, i int) (err error) {
	if v = rows.Indirect(v); !v.IsValid() {
		return fmt.Errorf("graph: %s.%s[%d] is nil: %w", owner.model.schema.Name, rel.rel.Name, i, gorm.ErrInvalidData)
	}
	if rel.to == nil {
		if rel.to, err = g.modelOf(rel.rel.FieldSchema, rel.as); err != nil {
			return err
		}
	}
	role := isShared
	switch rel.rel.Type {
	case schema.HasOne, schema.HasMany:
		role = isChild
	case schema.Many2Many:
		if rel.joinOnly {
			role = isExisting
		}
	}
	n := g.nodeOf(v, rel.to, role)
	switch rel.rel.Type {
	case schema.BelongsTo:
		g.addEdge(owner, n, &rel.refs)
	case schema.Many2Many:
		if err := g.join(owner, n, rel); err != nil {
			return err
		}
	default:
		if n.via == nil {
			n.via = rel
		}
		g.addEdge(n, owner, &rel.refs)
	}
	return g.descend(n)
}

// nodeOf returns the node of a row. Rows of different models may have one address.
func (g *graph) nodeOf(v reflect.Value, m *model, as role) *node {
	at := v.Addr().UnsafePointer()
	first := g.nodes[at]
	for n := first; n != nil; n = n.inner {
		if n.model.schema == m.schema {
			n.role = min(n.role, as)
			return n
		}
	}
	g.reserve(1)
	g.slab = append(g.slab, node{row: v, model: m, role: as, inner: first})
	n := &g.slab[len(g.slab)-1]
	g.nodes[at] = n
	return n
}

// reserve makes room for n nodes. A full slab is left to the nodes that point into it.
func (g *graph) reserve(n int) {
	if cap(g.slab)-len(g.slab) < n {
		g.slab = make([]node, 0, max(n, len(g.nodes), len(g.roots), 16))
	}
}

// addEdge appends an edge to those of the child: the last decides on its foreign key.
func (g *graph) addEdge(child, parent *node, refs *[]reference) {
	g.edges = append(g.edges, edge{child: child, parent: parent, refs: refs})
	at := int32(len(g.edges))
	if child.edges == 0 {
		child.edges = at
	} else {
		g.edges[child.last-1].next = at
	}
	child.last = at
}

// join adds the join row of two rows, once. Its own relations are not followed, as in gorm.
func (g *graph) join(owner, other *node, rel *relation) error {
	id := joinID{rel.rel, owner, other}
	if !g.joins || g.joined[id] {
		return nil
	}
	g.joined[id] = true
	m, err := g.modelOf(rel.rel.JoinTable, asAlone)
	if err != nil {
		return err
	}
	n := g.nodeOf(reflect.New(rel.rel.JoinTable.ModelType).Elem(), m, isJoin)
	g.addEdge(n, owner, &rel.joinRefs)
	g.addEdge(n, other, &rel.otherRefs)
	g.order = append(g.order, n)
	return nil
}

// sameRows reports whether a second walk, of the same value, has met the same rows.
func (g *graph) sameRows(again *graph) bool {
	same := func(a, b *node) bool {
		return a.model.schema == b.model.schema && (a.role == isJoin || a.row.Addr().UnsafePointer() == b.row.Addr().UnsafePointer())
	}
	if len(g.order) != len(again.order) || len(g.edges) != len(again.edges) {
		return false
	}
	for i, n := range g.order {
		if !same(n, again.order[i]) {
			return false
		}
	}
	for i := range g.edges {
		a, b := &g.edges[i], &again.edges[i]
		if a.refs != b.refs || !same(a.child, b.child) || !same(a.parent, b.parent) {
			return false
		}
	}
	return true
}
