package graph

import (
	"reflect"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// snapshot is the rows by value, before anything was set: a create that fails puts them back,
// with what hooks and gorm have changed.
type snapshot struct {
	nodes    []*node
	copies   map[reflect.Type]reflect.Value // a slice of the rows of each type, in the order of the nodes
	embedded []embedded
}

// embedded is a struct that a row embeds behind a pointer.
type embedded struct{ at, saved reflect.Value }

func (g *graph) snapshot() *snapshot {
	s := &snapshot{nodes: g.order, copies: map[reflect.Type]reflect.Value{}}
	count := map[reflect.Type]int{}
	for _, n := range s.nodes {
		count[n.row.Type()]++
	}
	for t, n := range count {
		s.copies[t] = reflect.MakeSlice(reflect.SliceOf(t), n, n)
	}
	s.each(func(n *node, saved reflect.Value) {
		saved.Set(n.row)
		for _, path := range n.model.embedded {
			if p := rows.Field(n.row, path); p.IsValid() && !p.IsNil() {
				saved := reflect.New(p.Type().Elem()).Elem()
				saved.Set(p.Elem())
				s.embedded = append(s.embedded, embedded{p.Elem(), saved})
			}
		}
	})
	return s
}

// each calls do with each row and its copy.
func (s *snapshot) each(do func(n *node, saved reflect.Value)) {
	next := make(map[reflect.Type]int, len(s.copies))
	for _, n := range s.nodes {
		t := n.row.Type()
		do(n, s.copies[t].Index(next[t]))
		next[t]++
	}
}

// restore puts the rows back.
func (s *snapshot) restore() {
	s.each(func(n *node, saved reflect.Value) { n.row.Set(saved) })
	for _, e := range s.embedded {
		e.at.Set(e.saved)
	}
}
