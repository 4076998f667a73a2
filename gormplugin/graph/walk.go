package graph

import (
	"cmp"
	"fmt"
	"reflect"
	"unsafe"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// descend follows the relations of a row: first those to its parents, then those to its children.
func (g *graph) descend(n *node) error {
	if n.walked || n.role == isExisting {
		return nil
	}
	n.walked = true
	relations := n.model.relations
	for i := range len(relations) + 1 {
		if i == n.model.parents {
			g.order = append(g.order, n)
			n.model.rows++
		}
		if i < len(relations) {
			if err := g.follow(n, &relations[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow descends to the rows that a relation leads to.
func (g *graph) follow(owner *node, rel *relation) (err error) {
	v := rows.Field(owner.row, rel.rel.Field.StructField.Index)
	if !v.IsValid() || v.IsZero() {
		return nil // as in gorm, also for a struct by value
	}
	if rel.to == nil {
		if rel.to, err = g.modelOf(rel.rel.FieldSchema, rel.as); err != nil {
			return err
		}
	}
	list, length := rows.Indirect(v), 1
	if rel.isList() {
		length = list.Len()
	}
	for i := range length {
		if rel.isList() {
			v = list.Index(i)
		}
		if v = rows.Indirect(v); !v.IsValid() {
			return fmt.Errorf("graph: %s.%s[%d] is nil: %w", owner.model.schema.Name, rel.rel.Name, i, gorm.ErrInvalidData)
		}
		n := g.nodeOf(v, rel.to, rel.role)
		switch {
		case rel.rel.JoinTable != nil:
			err = g.join(owner, n, rel)
		case rel.role == isShared:
			g.addEdge(owner, n, &rel.refs)
		default:
			n.via = cmp.Or(n.via, rel)
			g.addEdge(n, owner, &rel.refs)
		}
		if err = cmp.Or(err, g.descend(n)); err != nil {
			return err
		}
	}
	return nil
}

// nodeOf returns the node of a row. Rows of different models may have one address.
func (g *graph) nodeOf(v reflect.Value, m *model, as role) *node {
	at := v.Addr().UnsafePointer()
	outer := g.nodes[at]
	for n := outer; n != nil; n = n.inner {
		if n.model.schema == m.schema {
			n.role = min(n.role, as)
			return n
		}
	}
	if len(g.slab) == cap(g.slab) { // the full one is left to those that point into it
		g.slab = make([]node, 0, min(1024, 8+2*len(g.nodes)))
	}
	g.slab = append(g.slab, node{row: v, model: m, role: as, inner: outer})
	n := &g.slab[len(g.slab)-1]
	g.nodes[at] = n
	return n
}

// addEdge appends an edge to those of the child: the last decides on its foreign key.
func (g *graph) addEdge(child, parent *node, refs *[]reference) {
	g.edges = append(g.edges, edge{child: child, parent: parent, refs: refs})
	at := int32(len(g.edges))
	if child.first == 0 {
		child.first = at
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
	g.addEdge(n, owner, &rel.refs)
	g.addEdge(n, other, &rel.otherRefs)
	return g.descend(n)
}

// shape returns the addresses of the rows, and of both ends of each edge. Join rows have none that
// lasts.
func (g *graph) shape() []unsafe.Pointer {
	list := make([]unsafe.Pointer, 0, len(g.order)+2*len(g.edges))
	add := func(n *node) {
		if n.role != isJoin {
			list = append(list, n.row.Addr().UnsafePointer())
		}
	}
	for _, n := range g.order {
		add(n)
	}
	for i := range g.edges {
		add(g.edges[i].child)
		add(g.edges[i].parent)
	}
	return list
}
