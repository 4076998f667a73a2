package graph

import (
	"fmt"
	"reflect"
	"unsafe"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// walk finds all rows and how they refer to each other. It is called again when hooks have
// changed the rows: rows that are known keep their state.
func (g *graph) walk() error {
	if g.walks == 0 {
		g.allocate()
	}
	g.walks++
	g.order, g.edges = g.order[:0], g.edges[:0]
	for _, r := range g.roots {
		if n, first := g.visit(r.row, r.model, isRoot); first {
			g.stack = append(g.stack[:0], frame{n: n})
			if err := g.descend(); err != nil {
				return err
			}
		}
	}
	return nil
}

// allocate makes room for the roots and the rows in their lists. Deeper rows, and those of
// single relations, are allocated as they are found.
func (g *graph) allocate() {
	n := len(g.roots)
	for _, r := range g.roots {
		for i := range r.model.relations {
			if rel := &r.model.relations[i]; rel.isList() {
				if list := rows.Indirect(rows.Field(r.row, rel.index())); list.IsValid() {
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

// descend walks in depth, on a stack of its own: a list may be long.
func (g *graph) descend() error {
	for len(g.stack) > 0 {
		f := &g.stack[len(g.stack)-1]
		m := f.n.model
		if f.relation == m.belongsTo && !f.ordered {
			g.order = append(g.order, f.n) // after its parents, before its children
			f.ordered = true
		}
		if f.relation == len(m.relations) {
			g.stack = g.stack[:len(g.stack)-1]
			continue
		}
		rel := &m.relations[f.relation]
		elem := f.elem
		v := rows.Field(f.n.row, rel.index())
		if rel.isList() {
			v = rows.Indirect(v)
			if !v.IsValid() || elem >= v.Len() {
				f.relation, f.elem = f.relation+1, 0
				continue
			}
			f.elem++
			v = v.Index(elem)
		} else {
			f.relation++
			if !v.IsValid() || v.IsZero() {
				continue // as in gorm, also for a struct by value
			}
		}
		if v = rows.Indirect(v); !v.IsValid() {
			return fmt.Errorf("graph: %s.%s[%d] is nil: %w", m.schema.Name, rel.rel.Name, elem, gorm.ErrInvalidData)
		}
		if err := g.follow(f.n, rel, v); err != nil {
			return err
		}
	}
	return nil
}

// follow adds the edge between owner and the row v, and descends to v if it is new.
func (g *graph) follow(owner *node, rel *relation, v reflect.Value) error {
	if rel.to == nil {
		m, err := g.modelOf(rel.rel.FieldSchema, rel.scope)
		if err != nil {
			return err
		}
		rel.to = m
	}
	as := isChild
	switch {
	case rel.joinOnly:
		as = isOmitted
	case rel.kind == belongsTo || rel.kind == manyToMany:
		as = isShared
	}
	n, first := g.visit(v, rel.to, as)
	switch rel.kind {
	case belongsTo:
		g.edges = append(g.edges, edge{child: owner, parent: n, refs: &rel.refs, belongsTo: true})
	case manyToMany:
		if err := g.join(owner, n, rel); err != nil {
			return err
		}
	default:
		if n.via == nil {
			n.via = rel
		}
		g.edges = append(g.edges, edge{child: n, parent: owner, refs: &rel.refs})
	}
	if first {
		g.stack = append(g.stack, frame{n: n})
	}
	return nil
}

// visit returns the node of a row. first reports whether this walk has not descended to it.
func (g *graph) visit(v reflect.Value, m *model, as role) (n *node, first bool) {
	at := v.Addr().UnsafePointer()
	outer := g.nodes[at]
	n = outer
	for n != nil && n.model.schema != m.schema {
		n = n.inner
	}
	if n == nil {
		if len(g.slab) == cap(g.slab) {
			g.slab = make([]node, 0, min(1024, 16+2*len(g.nodes)))
		}
		g.slab = append(g.slab, node{row: v, model: m, role: as, inner: outer})
		n = &g.slab[len(g.slab)-1]
		g.nodes[at] = n
	}
	if n.walk == g.walks {
		if n.role == isOmitted && as != isOmitted {
			n.role = as
			return n, true
		}
		n.role = min(n.role, as)
		return n, false
	}
	n.walk, n.role = g.walks, as
	return n, as != isOmitted
}

// join adds the join row of two rows, once.
func (g *graph) join(owner, other *node, rel *relation) error {
	if !g.joins {
		return nil
	}
	id := joinID{rel.rel, owner, other}
	row, known := g.joinRows[id]
	if !known {
		row = reflect.New(rel.rel.JoinTable.ModelType).Elem()
		g.joinRows[id] = row
	}
	m, err := g.modelOf(rel.rel.JoinTable, scope{})
	if err != nil {
		return err
	}
	if n, first := g.visit(row, m, isJoin); first {
		g.order = append(g.order, n) // its own relations are not followed, as in gorm
		g.edges = append(g.edges,
			edge{child: n, parent: owner, refs: &rel.joinRefs},
			edge{child: n, parent: other, refs: &rel.otherRefs})
	}
	return nil
}
