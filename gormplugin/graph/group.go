package graph

import (
	"fmt"
	"slices"
)

// group is the rows of one kind that are not written yet.
type group struct {
	id      groupID
	model   *model
	rows    []*node
	left    int // how many are not placed
	after   []*group
	visited bool
}

// placed is the count of waits of a row that is in a batch.
const placed = -1

// parentOf returns the row for which the edge's child waits, if both are still to be written.
func (e *edge) parentOf() (parent *node, waits bool) {
	parent = e.parent
	if parent.same != nil {
		parent = parent.same
	}
	return parent, parent.group != nil && e.child.group != nil && parent != e.child && !e.deferred
}

// countWaits counts for how many rows each row waits, and notes which rows wait for it.
func (g *graph) countWaits() error {
	total := 0
	for i := range g.edges {
		e := &g.edges[i]
		if e.parent.role == isOmitted {
			for _, r := range *e.refs {
				if v := r.source(e.parent.row); !v.IsValid() || v.IsZero() {
					return fmt.Errorf("graph: %s.%s is zero, and Select or Omit keeps the row from being written",
						e.parent.model.schema.Name, r.from.Name)
				}
			}
		}
		if parent, waits := e.parentOf(); waits {
			parent.waiters++
			total++
		}
	}
	all := make([]*node, total)
	for i := range g.edges {
		e := &g.edges[i]
		parent, waits := e.parentOf()
		if !waits {
			continue
		}
		if n := parent.waiters; n > 0 {
			parent.waiting, all = all[:0:n], all[n:]
			parent.waiters = 0
		}
		e.child.waits++
		parent.waiting = append(parent.waiting, e.child)
		c := e.child.group
		if p := parent.group; p != c && (len(c.after) == 0 || c.after[len(c.after)-1] != p) && !slices.Contains(c.after, p) {
			c.after = append(c.after, p)
		}
	}
	return nil
}

// parentsFirst sorts the groups, as far as there is no cycle.
func parentsFirst(groups []*group) []*group {
	sorted := make([]*group, 0, len(groups))
	var visit func(*group)
	visit = func(gr *group) {
		if gr.visited {
			return
		}
		gr.visited = true
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

// take places the rows of a group that wait for no row, and then those that wait only for placed
// rows of the group.
func (gr *group) take() []*node {
	taken := make([]*node, 0, gr.left)
	for _, n := range gr.rows {
		if n.waits != 0 {
			continue
		}
		at := len(taken)
		n.waits = placed
		for taken = append(taken, n); at < len(taken); at++ {
			if gr.model.autoKey {
				break // children have a key to refer to only when this is written
			}
			for _, c := range taken[at].waiting {
				if c.group != gr {
					continue
				}
				c.waits--
				if c.waits == 0 && c.slot < n.slot { // it is before its parent: place it after
					c.waits = placed
					taken = append(taken, c)
				}
			}
		}
	}
	if gr.id.batch != nil && len(taken) < len(gr.rows) {
		return gr.putBack(taken) // its statement is begun and cannot be split
	}
	for _, n := range taken {
		for _, c := range n.waiting {
			if c.group != gr || gr.model.autoKey {
				c.waits--
			}
		}
	}
	gr.left -= len(taken)
	return taken
}

// putBack undoes take.
func (gr *group) putBack(taken []*node) []*node {
	for _, n := range taken {
		n.waits = 0
	}
	for _, n := range taken {
		for _, c := range n.waiting {
			if c.group == gr && !gr.model.autoKey {
				c.waits++
			}
		}
	}
	return nil
}
