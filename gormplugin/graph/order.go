package graph

import (
	"cmp"
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
	ready []*node  // rows that wait for no other
	left  int      // how many are not placed
	after []*group // those that its rows refer to
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

// batches sorts the rows into few batches, so that each row comes after those it
// refers to. It looks at each row and each reference once.
func (g *graph) batches() (batches []*batch, err error) {
	all := g.groups()
	for gr := nextGroup(all); gr != nil; gr = nextGroup(all) {
		batches = append(batches, g.newBatch(gr, int32(len(batches)+1)))
	}
	if i := slices.IndexFunc(g.nodes, func(n *node) bool { return n.batch == 0 }); i >= 0 {
		return nil, g.cycle(g.nodes[i])
	}
	return batches, nil
}

// nextGroup returns a group that has rows to place and refers to no other that has, except in a
// cycle of groups.
func nextGroup(all []*group) (next *group) {
	for _, gr := range all {
		if len(gr.ready) == 0 {
			continue
		}
		if !slices.ContainsFunc(gr.after, func(parent *group) bool { return parent.left > 0 }) {
			return gr
		}
		next = cmp.Or(next, gr)
	}
	return next
}

// newBatch takes the rows of a group that are ready, and those that become ready by that.
func (g *graph) newBatch(gr *group, number int32) *batch {
	release := func(n *node) {
		if n.waiting--; n.waiting == 0 {
			n.group.ready = append(n.group.ready, n)
		}
	}
	var late []*node // children that cannot be in the batch of their parents
	ready := len(gr.ready)
	for i := 0; i < len(gr.ready); i++ { //nolint:intrange // release appends to gr.ready
		n := gr.ready[i]
		n.batch = number
		for e := n.children; e != nil; e = e.nextChild {
			if g.isLate(e) {
				late = append(late, e.child)
			} else {
				release(e.child)
			}
		}
	}
	b := &batch{group: gr, rows: gr.ready, nested: len(gr.ready) > ready}
	gr.ready, gr.left = nil, gr.left-len(b.rows)
	for _, n := range late {
		release(n)
	}
	return b
}

// groups sorts the rows into groups, and counts what each row and each group waits for.
func (g *graph) groups() (all []*group) {
	for _, n := range g.nodes {
		id := groupID{model: n.model, mode: g.modeOf(n)}
		if id.mode == moveChild {
			id.updates = n.moves
		}
		i := slices.IndexFunc(all, func(gr *group) bool { return gr.groupID == id })
		if i < 0 {
			i = len(all)
			all = append(all, &group{groupID: id})
		}
		all[i].left++
		n.group, n.batch, n.waiting, n.children = all[i], 0, 0, nil
	}
	for _, e := range slices.Backward(g.edges) { // each is put before the later ones of its parent
		if !g.isAwaited(e) {
			continue
		}
		e.child.waiting++
		e.nextChild, e.parent.children = e.parent.children, e
		if child, parent := e.child.group, e.parent.group; parent != child && !slices.Contains(child.after, parent) {
			child.after = append(child.after, parent)
		}
	}
	for _, n := range g.nodes {
		if n.waiting == 0 {
			n.group.ready = append(n.group.ready, n)
		}
	}
	return all
}

// isAwaited reports whether the child is written after the parent. A parent that exists is not written, and a
// row that refers to itself waits only for a late key.
func (g *graph) isAwaited(e *edge) bool {
	return e.parent.group != nil && (e.parent != e.child || g.isLate(e))
}

// isLate reports whether the parent's key may be known only after its INSERT.
func (g *graph) isLate(e *edge) bool { return g.upsert && e.parent.role == isRoot || e.isMissing() }

// cycle returns the error for a row that could not be placed: it follows parents until it is at a row
// again.
func (g *graph) cycle(n *node) error {
	var path []*node
	for n.batch == 0 {
		n.batch, path = -1, append(path, n)
		e := n.parents
		for !g.isAwaited(e) || e.parent.batch > 0 { // it waits for another
			e = e.nextParent
		}
		n = e.parent
	}
	err := &CycleError{}
	for _, m := range append(path[slices.Index(path, n):], n) {
		err.Tables = append(err.Tables, m.model.schema.Table)
	}
	return err
}
