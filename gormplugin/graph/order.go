package graph

import (
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// manner is how rows are written: what happens to a row that exists.
type manner uint8

const (
	plain        manner = iota // an error
	doNothing                  // it stays, as gorm does for parents
	moveChild                  // it moves to the new parent, as gorm does for children
	updateAll                  // FullSaveAssociations
	asHandleSays               // the given rows
)

// group is rows that can be in one INSERT.
type group struct {
	groupID
	rows    []*node
	after   []*group // those that its rows refer to
	visited bool
	left    int // how many are not placed
}

type groupID struct {
	model   *model
	manner  manner
	updates string // of moveChild: the columns
}

// batch is rows of a group that are written together. Each comes after those it refers to.
type batch struct {
	*group
	rows []*node
}

// CycleError is returned by [Create] if rows refer to each other in a cycle, so that no row can
// be written first.
type CycleError struct {
	Tables []string // each refers to the next; the last is the first again
}

func (e *CycleError) Error() string {
	return "graph: rows of the tables " + strings.Join(e.Tables, " → ") +
		" refer to each other in a cycle: leave one of the references out, and set it by an update after the create"
}

// mannerOf decides how a row is written.
func (g *graph) mannerOf(n *node) manner {
	switch {
	case n.role == isRoot:
		return asHandleSays
	case n.role == isJoin:
		return doNothing
	case n.keyGiven || n.model.autoKey && n.hasZeroKey():
		return plain // no row has its key: any collision is an error
	case g.db.FullSaveAssociations && !n.hasZeroKey():
		return updateAll
	case n.role == isChild:
		return moveChild
	}
	return doNothing
}

func (n *node) hasZeroKey() bool { return n.keyText() == "" }

// keyText returns the text of a row's key. It is empty if a part is not known yet.
func (n *node) keyText() (text string) {
	for _, f := range n.model.schema.PrimaryFields {
		part := rows.Text(rows.Field(n.row, f.StructField.Index))
		if part == "" || len(n.model.schema.PrimaryFields) == 1 {
			return part
		}
		text += part + "\x00"
	}
	return text
}

// batches sorts the rows into as few batches as possible, so that each row comes after those it
// refers to.
func (g *graph) batches() ([]batch, error) {
	groups := parentsFirst(g.groups())
	var batches []batch
	for left := len(g.order); left > 0; {
		before := left
		for _, gr := range groups {
			if gr.left == 0 {
				continue
			}
			b := batch{group: gr, rows: make([]*node, 0, gr.left)}
			for _, n := range gr.rows {
				g.place(n, &b, int32(len(batches)+1))
			}
			if len(b.rows) > 0 {
				batches = append(batches, b)
				gr.left -= len(b.rows)
				left -= len(b.rows)
			}
		}
		if left == before {
			return nil, g.cycle()
		}
	}
	return batches, nil
}

// groups sorts the rows into groups.
func (g *graph) groups() (groups []*group) {
	byID := map[groupID]*group{}
	var last *group
	for _, n := range g.order {
		id := groupID{model: n.model, manner: g.mannerOf(n)}
		if id.manner == moveChild {
			id.updates = strings.Join(n.via.columns, ",")
		}
		if last == nil || last.groupID != id {
			if last = byID[id]; last == nil {
				last = &group{groupID: id}
				byID[id], groups = last, append(groups, last)
			}
		}
		n.group, n.batch, n.tried = last, 0, 0
		last.left++
	}
	for _, n := range g.order {
		if n.group.rows == nil {
			n.group.rows = make([]*node, 0, n.group.left)
		}
		n.group.rows = append(n.group.rows, n)
	}
	for i := range g.edges {
		child, parent := g.edges[i].child.group, g.edges[i].parent.group
		if k := len(child.after); parent != nil && parent != child && (k == 0 || child.after[k-1] != parent) && !slices.Contains(child.after, parent) {
			child.after = append(child.after, parent)
		}
	}
	return groups
}

// parentsFirst sorts the groups, as far as they do not refer to each other in a cycle.
func parentsFirst(groups []*group) []*group {
	sorted := make([]*group, 0, len(groups))
	var visit func(*group)
	visit = func(gr *group) {
		if gr.visited {
			return
		}
		gr.visited = true
		for _, parent := range gr.after {
			visit(parent)
		}
		sorted = append(sorted, gr)
	}
	for _, gr := range groups {
		visit(gr)
	}
	return sorted
}

// place appends a row to a batch, after its parents in the same group. It reports whether the row
// is in this batch or in an earlier one.
func (g *graph) place(n *node, b *batch, number int32) bool {
	if n.batch > 0 {
		return true
	}
	if n.group != b.group || n.tried == number {
		return false
	}
	n.tried = number
	for at := n.edges; at > 0; at = g.edges[at-1].next {
		if e := &g.edges[at-1]; e.waits(number, g.upsert) && (e.isLate(g.upsert) || !g.place(e.parent, b, number)) {
			return false
		}
	}
	n.batch = number
	b.rows = append(b.rows, n)
	return true
}

// waits reports whether the child must wait for a parent that is not in an earlier batch.
func (e *edge) waits(number int32, upsert bool) bool {
	p := e.parent
	return p.role != isExisting && (p.batch == 0 || p.batch == number) && (p != e.child || e.isLate(upsert))
}

// isLate reports whether the parent's key may be known only after its INSERT.
func (e *edge) isLate(upsert bool) bool {
	if upsert && e.parent.role == isRoot {
		return true
	}
	return slices.ContainsFunc(*e.refs, func(r reference) bool {
		if r.from == nil || !r.made && !e.parent.model.before {
			return false
		}
		v := rows.Indirect(rows.Field(e.parent.row, r.from.StructField.Index))
		return !v.IsValid() || v.IsZero()
	})
}

// cycle returns the error for rows that cannot be placed: it follows a parent of each until a row
// comes again.
func (g *graph) cycle() error {
	at := map[*node]int{}
	var tables []string
	n := g.order[slices.IndexFunc(g.order, func(n *node) bool { return n.batch == 0 })]
	for {
		if from, again := at[n]; again {
			tables = slices.Compact(append(tables[from:], n.model.schema.Table))
			if len(tables) == 1 {
				tables = append(tables, tables[0])
			}
			return &CycleError{Tables: tables}
		}
		at[n] = len(tables)
		tables = append(tables, n.model.schema.Table)
		for k := n.edges; k > 0; k = g.edges[k-1].next {
			if e := &g.edges[k-1]; e.waits(0, g.upsert) {
				n = e.parent
				break
			}
		}
	}
}
