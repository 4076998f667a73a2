package gormplugin

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm/schema"
)

// conflict is what is to happen with rows that exist.
type conflict uint8

const (
	plain      conflict = iota
	doNothing           // gorm's way with what a row belongs to
	updateKey           // gorm's way with details: they change hands
	updateAll           // FullSaveAssociations
	asTheyTell          // the rows that were given, and what the handle says of them
)

// placed is what a row waits for when it has its place.
const placed = -1

// groupID tells rows apart that cannot be in one INSERT.
type groupID struct {
	schema   *schema.Schema
	scope    string
	conflict conflict
	updates  string
	keyless  bool // the database makes their keys: gorm sets those it returns in what has none
	batch    *batch
}

// group is the rows of one kind that are still to be written.
type group struct {
	id    groupID
	shape *shape
	rows  []*node
	left  int // how many of them are not placed yet
	after []*group
	mark  uint8
}

// batch is rows for one INSERT, or several where they are too many.
type batch struct {
	id     groupID
	shape  *shape
	rows   []*node
	chains []*chain // begun: their hooks ran
}

// conflictOf decides how a row is written.
func (g *graph) conflictOf(n *node) conflict {
	switch {
	case n.role == isRoot && g.special:
		return asTheyTell
	case n.role == isRoot:
		return plain
	case n.role == isJoin:
		return doNothing
	case n.fresh && n.role == isDetail:
		// Nobody has its key yet: whatever it collides with is an error.
		return plain
	case n.fresh:
		return doNothing // it may collide by an index of which only the database tells
	case n.role == isOther && n.keyless() && !returnsCollisions(g.db):
		return plain // what it collides with would get no key, or another row's
	case g.db.FullSaveAssociations:
		return updateAll
	case n.role == isDetail:
		return updateKey
	}
	return doNothing
}

// keyless reports whether the database is to make the row's key.
func (n *node) keyless() bool { return n.shape.late && keyText(n) == "" }

// schedule puts what is not written yet in an order in which each row comes
// after those it refers to, and rows of one kind together.
func (g *graph) schedule() ([]*batch, error) {
	for {
		if err := g.markLater(); err != nil {
			return nil, err
		}
		groups := g.groups()
		if err := g.count(); err != nil {
			return nil, err
		}
		if batches, all := place(parentsFirst(groups)); all {
			return batches, nil
		}
		if err := g.breakCycles(); err != nil {
			return nil, err
		}
	}
}

// place is not able to place all where rows wait for each other in a circle.
func place(groups []*group) (batches []*batch, all bool) {
	for todo := len(groups); todo > 0; {
		progress := false
		for _, gr := range groups {
			if gr.left == 0 {
				continue
			}
			rows := gr.take()
			if len(rows) == 0 {
				continue
			}
			progress = true
			if gr.left == 0 {
				todo--
			}
			b := gr.id.batch
			if b == nil {
				b = &batch{id: gr.id, shape: gr.shape, rows: rows}
			}
			batches = append(batches, b)
		}
		if !progress {
			return nil, false
		}
	}
	return batches, true
}

// groups sorts the pending rows into groups, in the order of the walk.
func (g *graph) groups() []*group {
	var groups []*group
	byID := map[groupID]*group{}
	met := map[string]*node{}
	var last *group
	for _, n := range g.order {
		n.group, n.waits, n.kids = nil, 0, nil
		if n.state == written || n.role == isLeftOut {
			continue
		}
		id := groupID{schema: n.shape.schema, scope: n.shape.id, conflict: g.conflictOf(n)}
		if id.conflict == updateKey {
			id.updates = strings.Join(n.by.updates, ",")
		}
		id.keyless = id.conflict == doNothing && n.keyless()
		if n.state == begun {
			id = groupID{batch: n.batch}
		} else if id.conflict != plain && id.conflict != asTheyTell {
			// As in gorm, rows of one key are one row: the first.
			if key, ok := g.keyOf(n); ok {
				if first := met[key]; first != nil {
					n.twin, n.state = first, written
					continue
				}
				met[key] = n
			}
		}
		if last == nil || last.id != id {
			gr, known := byID[id]
			if !known {
				gr = &group{id: id, shape: n.shape}
				byID[id] = gr
				groups = append(groups, gr)
			}
			last = gr
		}
		n.group, n.slot = last, len(last.rows)
		last.rows = append(last.rows, n)
		last.left++
	}
	return groups
}

// keyOf is the text of a key that is set.
func (g *graph) keyOf(n *node) (string, bool) {
	if n.role == isJoin || len(n.shape.schema.PrimaryFields) == 0 {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%p", n.shape.schema)
	for _, f := range n.shape.schema.PrimaryFields {
		v := indirect(fieldAt(n.row, f.StructField.Index)) // a pointer is not the key
		if !v.IsValid() || v.IsZero() {
			return "", false
		}
		key := v.Interface()
		if id, ok := integer(v); ok {
			key = id
		}
		fmt.Fprintf(&b, "\x00%v", key)
	}
	return b.String(), true
}

// count notes for how many rows each row waits, and who waits for it.
func (g *graph) count() error {
	waiting := 0
	for i := range g.edges {
		e := &g.edges[i]
		if e.parent.role == isLeftOut {
			for _, l := range *e.links {
				if v := fieldAt(e.parent.row, l.from.StructField.Index); !v.IsValid() || v.IsZero() {
					return fmt.Errorf("gormplugin: %s.%s is zero, and Select or Omit keeps the row from being written",
						e.parent.shape.schema.Name, l.from.Name)
				}
			}
		}
		parent, live := e.waits()
		if !live {
			continue
		}
		waiting++
		parent.fan++
		c := e.child.group
		if p := parent.group; p != c && (len(c.after) == 0 || c.after[len(c.after)-1] != p) && !slices.Contains(c.after, p) {
			c.after = append(c.after, p)
		}
	}
	all := make([]*node, 0, waiting) // the kids of all, side by side
	for i := range g.edges {
		e := &g.edges[i]
		parent, live := e.waits()
		if !live {
			continue
		}
		e.child.waits++
		if parent.kids == nil {
			at := len(all)
			all = all[:at+parent.fan]
			parent.kids, parent.fan = all[at:at:at+parent.fan], 0
		}
		parent.kids = append(parent.kids, e.child)
	}
	return nil
}

// waits is the row for which the edge's child waits, if both are still to be written.
func (e *edge) waits() (parent *node, live bool) {
	parent = e.parent
	if parent.twin != nil {
		parent = parent.twin
	}
	return parent, parent.group != nil && e.child.group != nil && parent != e.child && !e.later
}

// parentsFirst sorts the groups, as far as there is no cycle.
func parentsFirst(groups []*group) []*group {
	sorted := make([]*group, 0, len(groups))
	var visit func(*group)
	visit = func(gr *group) {
		if gr.mark != 0 {
			return
		}
		gr.mark = 1
		for _, p := range gr.after {
			visit(p)
		}
		sorted = append(sorted, gr)
	}
	for _, gr := range groups {
		visit(gr)
	}
	return sorted
}

// take places the rows of a group that wait for none, and those that wait only
// for others of them.
func (gr *group) take() []*node {
	rows := make([]*node, 0, gr.left)
	for _, n := range gr.rows {
		if n.waits != 0 {
			continue
		}
		at := len(rows)
		n.waits = placed
		for rows = append(rows, n); at < len(rows); at++ {
			if gr.shape.late {
				break // details have a key to refer to only when this is written
			}
			for _, c := range rows[at].kids {
				if c.group != gr {
					continue
				}
				c.waits--
				if c.waits == 0 && c.slot < n.slot { // it stood before its parent: behind it with it
					c.waits = placed
					rows = append(rows, c)
				}
			}
		}
	}
	if gr.id.batch != nil && len(rows) < len(gr.rows) {
		return gr.putBack(rows) // its statement is begun and cannot be parted
	}
	for _, n := range rows {
		for _, c := range n.kids {
			if c.group != gr || gr.shape.late {
				c.waits--
			}
		}
	}
	gr.left -= len(rows)
	return rows
}

// putBack undoes take.
func (gr *group) putBack(rows []*node) []*node {
	for _, n := range rows {
		n.waits = 0
	}
	for _, n := range rows {
		for _, c := range n.kids {
			if c.group == gr && !gr.shape.late {
				c.waits++
			}
		}
	}
	return nil
}

// isParent reports whether another row refers to this one.
func (g *graph) isParent(n *node) bool {
	for i := range g.edges {
		if g.edges[i].parent == n {
			return true
		}
	}
	return false
}
