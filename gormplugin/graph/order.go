package graph

import (
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// mode is what happens to a row that exists already.
type mode uint8

const (
	plain     mode = iota // an error
	doNothing             // it stays, as gorm does for parents
	moveChild             // it moves to the new parent, as gorm does for children
	updateAll             // FullSaveAssociations
	ofHandle              // what the handle's clauses say; for the given rows
)

// group is rows of one model that are written in one mode.
type group struct {
	groupID
	rows    []*node  // those that are not placed
	after   []*group // those that its rows refer to
	visited bool
}

type groupID struct {
	model   *model
	mode    mode
	updates string // of moveChild: the columns
}

// batch is rows of a group that can be in one INSERT. Each comes after those it refers to.
type batch struct {
	*group
	rows   []*node
	nested bool // rows refer to others of the batch
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

// modeOf decides how a row is written.
func (g *graph) modeOf(n *node) mode {
	switch {
	case n.role == isRoot:
		return ofHandle
	case n.role == isJoin:
		return doNothing
	case n.keyGiven || n.model.autoKey && n.keyText() == "":
		return plain // no row has its key: any collision is an error
	case g.db.FullSaveAssociations && n.keyText() != "":
		return updateAll
	case n.role == isChild:
		return moveChild
	}
	return doNothing
}

// keyText returns the text of a row's key. It is empty if a part is not known yet.
func (n *node) keyText() (text string) {
	for _, f := range n.model.schema.PrimaryFields {
		part := rows.Text(rows.Field(n.row, f.StructField.Index))
		if part == "" {
			return ""
		}
		text += part + "\x00"
	}
	return text
}

// batches sorts the rows into as few batches as possible, so that each row comes after those it
// refers to.
func (g *graph) batches() (batches []batch, err error) {
	groups := g.groups()
	for left := len(g.order); left > 0; {
		before := left
		for _, gr := range groups {
			for len(gr.rows) > 0 { // again, if rows wait for rows of the last batch
				b := batch{group: gr}
				for _, n := range gr.rows {
					g.placeRow(n, &b, int32(len(batches)+1))
				}
				if len(b.rows) == 0 {
					break
				}
				batches = append(batches, b)
				left -= len(b.rows)
				gr.rows = slices.DeleteFunc(gr.rows, func(n *node) bool { return n.batch > 0 })
			}
		}
		if left == before {
			return nil, g.cycle()
		}
	}
	return batches, nil
}

// groups sorts the rows into groups, and the groups parents first, except in a cycle of groups.
func (g *graph) groups() (sorted []*group) {
	byID := map[groupID]*group{}
	var all []*group
	var gr *group // of the last row
	for _, n := range g.order {
		id := groupID{model: n.model, mode: g.modeOf(n)}
		if id.mode == moveChild {
			id.updates = n.via.columns
		}
		if gr == nil || gr.groupID != id {
			if gr = byID[id]; gr == nil {
				gr = &group{groupID: id}
				byID[id], all = gr, append(all, gr)
			}
		}
		n.group, n.batch, n.tried = gr, 0, 0
		gr.rows = append(gr.rows, n)
	}
	for i := range g.edges {
		child, parent := g.edges[i].child.group, g.edges[i].parent.group
		if parent != nil && parent != child && !slices.Contains(child.after, parent) {
			child.after = append(child.after, parent)
		}
	}
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
	for _, gr := range all {
		visit(gr)
	}
	return sorted
}

// placeRow appends a row to a batch, after its parents of the same group. It reports whether the row
// is in this batch or in an earlier one.
func (g *graph) placeRow(n *node, b *batch, number int32) bool {
	if n.batch > 0 || n.group != b.group || n.tried == number {
		return n.batch > 0
	}
	n.tried = number
	for at := n.first; at > 0; at = g.edges[at-1].next {
		e := &g.edges[at-1]
		p := e.parent
		if p.role == isExisting || 0 < p.batch && p.batch < number {
			continue
		}
		if g.isLate(e) || p != n && !g.placeRow(p, b, number) {
			return false
		}
		b.nested = b.nested || p != n
	}
	n.batch = number
	b.rows = append(b.rows, n)
	return true
}

// isLate reports whether the parent's key may be known only after its INSERT.
func (g *graph) isLate(e *edge) bool {
	return g.upsert && e.parent.role == isRoot ||
		slices.ContainsFunc(*e.refs, func(r reference) bool { return r.isMissing(e.parent.row) })
}

// cycle returns the error for rows that could not be placed: it follows parents until it is at a row
// again.
func (g *graph) cycle() error {
	n := g.order[slices.IndexFunc(g.order, func(n *node) bool { return n.batch == 0 })]
	var path []*node
	for !slices.Contains(path, n) {
		path = append(path, n)
		for at := n.first; at > 0; at = g.edges[at-1].next {
			if e := &g.edges[at-1]; e.parent.batch == 0 && e.parent.role != isExisting && (e.parent != n || g.isLate(e)) {
				n = e.parent
				break
			}
		}
	}
	err := &CycleError{}
	for _, m := range append(path[slices.Index(path, n):], n) {
		err.Tables = append(err.Tables, m.model.schema.Table)
	}
	return err
}
