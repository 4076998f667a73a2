package gormplugin

import (
	"fmt"
	"slices"
	"unsafe"

	"gorm.io/gorm"
)

// assignAll walks, gives keys, and copies them to the foreign keys.
func (g *graph) assignAll() error {
	if err := g.walk(); err != nil {
		return err
	}
	if err := g.reserve(); err != nil {
		return err
	}
	if err := g.copyKeys(); err != nil {
		return err
	}
	return g.checkShared()
}

// need is one key that is zero.
type need struct {
	n *node
	t *target
}

// reserve sets every zero key from one reservation of each source.
func (g *graph) reserve() error {
	var sources []string // by name: to compare sources themselves may panic
	var needs [][]need
	var held map[unsafe.Pointer]bool // keys in embedded structs behind pointers
	for _, n := range g.order {
		if n.state != pending || n.role == isLeftOut {
			continue
		}
		if n.shape.unkeyed != nil {
			return fmt.Errorf("gormplugin: table %s: %w", n.shape.schema.Table, n.shape.unkeyed)
		}
		for i := range n.shape.targets {
			t := &n.shape.targets[i]
			if t.source == nil {
				continue
			}
			zero, err := t.lacks(n.row)
			if err != nil {
				return err
			}
			if !zero {
				continue
			}
			if behindPointer(t.field.StructField.Index) {
				if key := fieldAt(n.row, t.field.StructField.Index); key.IsValid() {
					at := key.Addr().UnsafePointer()
					if held[at] {
						return fmt.Errorf("gormplugin: %s: rows share the embedded struct that holds their key: %w", t.name, gorm.ErrInvalidData)
					}
					if held == nil {
						held = map[unsafe.Pointer]bool{}
					}
					held[at] = true
				}
			}
			k := slices.Index(sources, t.sourceName)
			if k < 0 {
				k = len(sources)
				sources = append(sources, t.sourceName)
				needs = append(needs, make([]need, 0, len(g.order))) // most rows have one key
			}
			needs[k] = append(needs[k], need{n, t})
		}
	}
	reserved := make([][]int64, len(sources))
	for k := range sources {
		ids := make([]int64, len(needs[k]))
		if err := needs[k][0].t.source.Fill(g.ctx, ids); err != nil {
			return fmt.Errorf("gormplugin: %s and others, %d keys: %w", needs[k][0].t.name, len(ids), err)
		}
		for i, id := range ids {
			if id <= 0 {
				return fmt.Errorf("gormplugin: %s: the source gave %d, which is no key", needs[k][i].t.name, id)
			}
		}
		reserved[k] = ids
	}
	total := len(g.edges)
	for k := range needs {
		total += len(needs[k])
	}
	g.undo.entries = slices.Grow(g.undo.entries, total) // a key and a foreign key for each
	g.undo.given = append(g.undo.given, reserved...)
	for k := range sources { // all reservations came: from here on rows are changed
		for i, w := range needs[k] {
			w.t.give(g.ctx, w.n.row, reserved[k][i], &g.undo)
			w.n.fresh = w.n.fresh || w.t.field.PrimaryKey
		}
	}
	return nil
}

// behindPointer reports whether the field is in an embedded struct behind a pointer.
func behindPointer(index []int) bool {
	return slices.ContainsFunc(index, func(i int) bool { return i < 0 }) // gorm's sign for it
}

// copyKeys copies keys to the foreign keys of all rows that are not written yet.
// The details whose hooks ran keep what those made of it.
func (g *graph) copyKeys() error {
	// A key that is another row's is copied on and on: as many rounds as that
	// chain is long, and one for all where there is none.
	for range len(g.order) + 1 {
		changes := g.undo.len()
		again := false
		for i := range g.edges {
			e := &g.edges[i]
			if e.child.state == written || e.child.state == begun && !e.belongs {
				continue
			}
			for k := range *e.links {
				if err := g.copyKey(e, &(*e.links)[k]); err != nil {
					return fmt.Errorf("gormplugin: %s.%s: %w", e.child.shape.schema.Name, (*e.links)[k].to.Name, err)
				}
			}
			again = again || e.parent.shape.shared
		}
		if !again || g.undo.len() == changes {
			break
		}
	}
	g.moved = false
	return nil
}

func (g *graph) copyKey(e *edge, l *link) error {
	if index := l.to.StructField.Index; behindPointer(index) {
		return g.undo.making(e.child.row, index, func() error {
			return l.copy(g.ctx, e.parent.row, e.child.row, &g.undo)
		})
	}
	return l.copy(g.ctx, e.parent.row, e.child.row, &g.undo)
}

// checkShared finds the rows that should have got their key from another row.
func (g *graph) checkShared() error {
	for _, n := range g.order {
		if !n.shape.shared || n.role == isJoin || n.role == isLeftOut {
			continue
		}
		for i := range n.shape.targets {
			t := &n.shape.targets[i]
			if t.source != nil {
				continue
			}
			if zero, err := t.lacks(n.row); err != nil {
				return err
			} else if zero {
				return fmt.Errorf("gormplugin: %w", t.notSet())
			}
		}
	}
	return nil
}
