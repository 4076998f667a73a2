package graph

import (
	"reflect"
	"unsafe"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// restoreAll restores all rows, and finds what hooks have moved to other rows: keys that the
// graph has given, copies of a key that is taken back, and structs that the graph has allocated.
func (g *graph) restoreAll() {
	hooked := false
	for _, n := range g.order {
		hooked = hooked || n.state != pending && n.model.hasHooks(g.db)
	}
	if !hooked {
		g.undo.restore()
		return
	}
	_ = g.walk() // to where the rows are now, as far as it succeeds
	copies, orphaned := g.copies()
	given := rows.NewIDs(g.undo.given)
	made := make(map[unsafe.Pointer]bool, len(g.undo.made))
	for _, m := range g.undo.made {
		made[m.at] = true
	}
	g.undo.restoreAll(given)
	for _, n := range g.order {
		for i := range n.model.columns {
			c := &n.model.columns[i]
			if field := rows.Field(n.row, c.Field.StructField.Index); c.Source != nil && given.Has(field) {
				field.SetZero()
			}
		}
	}
	for _, c := range copies {
		if now := rows.Text(c.to); now != "" && (given.Has(c.to) || orphaned[now] || now == c.text && rows.Text(c.from) != now) {
			c.to.SetZero()
		}
	}
	for _, n := range g.order {
		for i := range n.model.columns {
			removeMade(n.row, n.model.columns[i].Field.StructField.Index, made)
		}
	}
	for i := range g.edges {
		for _, r := range *g.edges[i].refs {
			removeMade(g.edges[i].child.row, r.to.StructField.Index, made)
		}
	}
}

// keyCopy is a foreign key that equals the key it refers to.
type keyCopy struct {
	from, to reflect.Value
	text     string // of both
}

// copies returns the foreign keys that equal their key. orphaned are the foreign keys that were
// zero, and that the graph has set in rows which are no longer in it.
func (g *graph) copies() (copies []keyCopy, orphaned map[string]bool) {
	here := map[unsafe.Pointer]bool{}
	for i := range g.edges {
		e := &g.edges[i]
		for _, r := range *e.refs {
			if r.from == nil {
				continue
			}
			c := keyCopy{from: r.source(e.parent.row), to: r.target(e.child.row)}
			if !c.to.IsValid() {
				continue
			}
			here[c.to.Addr().UnsafePointer()] = true
			if c.text = rows.Text(c.from); c.text != "" && c.text == rows.Text(c.to) {
				copies = append(copies, c)
			}
		}
	}
	orphaned = map[string]bool{}
	for _, e := range g.undo.entries {
		if !e.key && e.old == nil && !here[e.field.Addr().UnsafePointer()] {
			orphaned[rows.Text(e.field)] = true
		}
	}
	return copies, orphaned
}

// removeMade sets the pointers that lead to a field back to nil if the graph has allocated the
// structs and they are zero.
func removeMade(row reflect.Value, index []int, made map[unsafe.Pointer]bool) {
	if len(made) == 0 || len(index) < 2 {
		return
	}
	if index[0] >= 0 {
		removeMade(row.Field(index[0]), index[1:], made)
		return
	}
	field := row.Field(-index[0] - 1)
	if field.IsNil() {
		return
	}
	removeMade(field.Elem(), index[1:], made)
	if made[field.UnsafePointer()] && field.Elem().IsZero() {
		field.SetZero()
	}
}
