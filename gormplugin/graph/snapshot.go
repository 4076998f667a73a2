package graph

import (
	"reflect"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// snapshot is the rows by value, before anything was set. A create that fails puts them back, and
// with them what hooks and gorm have changed.
type snapshot struct {
	nodes    []*node
	embedded []embedded
}

// embedded is a struct that a row embeds behind a pointer.
type embedded struct{ at, saved reflect.Value }

func (g *graph) snapshot() *snapshot {
	s := &snapshot{nodes: g.order}
	for _, m := range g.models {
		m.copies = reflect.MakeSlice(reflect.SliceOf(m.schema.ModelType), m.rows, m.rows)
	}
	s.each(func(n *node, saved reflect.Value) {
		saved.Set(n.row)
		for _, path := range n.model.embedded {
			if p := rows.Field(n.row, path); p.IsValid() && !p.IsNil() {
				s.embedded = append(s.embedded, embedded{p.Elem(), reflect.New(p.Type().Elem()).Elem()})
				s.embedded[len(s.embedded)-1].saved.Set(p.Elem())
			}
		}
	})
	return s
}

// each calls do with each row and its copy.
func (s *snapshot) each(do func(n *node, saved reflect.Value)) {
	for _, n := range s.nodes {
		n.model.next = 0
	}
	for _, n := range s.nodes {
		do(n, n.model.copies.Index(n.model.next))
		n.model.next++
	}
}

func (s *snapshot) restore() {
	s.each(func(n *node, saved reflect.Value) { n.row.Set(saved) })
	for _, e := range s.embedded {
		e.at.Set(e.saved)
	}
}
