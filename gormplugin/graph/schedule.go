package graph

import (
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// conflict says what to do with rows that exist.
type conflict uint8

const (
	plain     conflict = iota // an error
	doNothing                 // as gorm does for parents
	updateKey                 // as gorm does for children: they move to the new parent
	updateAll                 // FullSaveAssociations
	byHandle                  // as the caller's handle says, for the roots
)

// batch is rows for one INSERT, or for several if they are too many.
type batch struct {
	id         groupID
	model      *model
	rows       []*node
	insertions []*insertion // begun: their hooks have run
}

// schedule sorts the rows that are not written yet into batches, so that each row comes after
// those it refers to, with as few batches as possible.
func (g *graph) schedule() ([]*batch, error) {
	for {
		if err := g.markDeferred(); err != nil {
			return nil, err
		}
		groups := g.groups()
		if err := g.countWaits(); err != nil {
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

// place puts the groups into batches. all is false if rows wait for each other in a cycle.
func place(groups []*group) (batches []*batch, all bool) {
	for left := len(groups); left > 0; {
		progress := false
		for _, gr := range groups {
			if gr.left == 0 {
				continue
			}
			taken := gr.take()
			if len(taken) == 0 {
				continue
			}
			progress = true
			if gr.left == 0 {
				left--
			}
			b := gr.id.batch
			if b == nil {
				b = &batch{id: gr.id, model: gr.model, rows: taken}
			}
			batches = append(batches, b)
		}
		if !progress {
			return nil, false
		}
	}
	return batches, true
}

// groupID distinguishes rows that cannot be in one INSERT.
type groupID struct {
	model    *model
	conflict conflict
	updates  string
	keyless  bool // the database makes their keys, and gorm sets those that are returned
	batch    *batch
}

// groups sorts the rows that are not written into groups, in the order of the walk.
func (g *graph) groups() []*group {
	var groups []*group
	byID := map[groupID]*group{}
	type rowKey struct {
		schema *schema.Schema
		text   string
	}
	met := map[rowKey]*node{}
	var last *group
	for _, n := range g.order {
		n.group, n.waits, n.waiters, n.waiting = nil, 0, 0, nil
		if n.state == written || n.role == isOmitted {
			continue
		}
		id := groupID{model: n.model, conflict: g.conflictOf(n)}
		if id.conflict == updateKey {
			id.updates = strings.Join(n.via.columns, ",")
		}
		id.keyless = id.conflict == doNothing && n.isKeyless()
		if n.state == begun {
			id = groupID{batch: n.batch}
		} else if id.conflict != plain && id.conflict != byHandle {
			// As in gorm, rows with one key are one row: the first.
			if key := (rowKey{n.model.schema, keyText(n)}); key.text != "" && n.role != isJoin {
				if first := met[key]; first != nil {
					n.same, n.state = first, written
					continue
				}
				met[key] = n
			}
		}
		if last == nil || last.id != id {
			gr, known := byID[id]
			if !known {
				gr = &group{id: id, model: n.model}
				byID[id] = gr
				groups = append(groups, gr)
			}
			last = gr
		}
		n.group, n.slot = last, last.left
		last.left++
	}
	for _, n := range g.order {
		if gr := n.group; gr != nil {
			if gr.rows == nil {
				gr.rows = make([]*node, 0, gr.left)
			}
			gr.rows = append(gr.rows, n)
		}
	}
	return groups
}

// conflictOf decides how a row is written.
func (g *graph) conflictOf(n *node) conflict {
	switch {
	case n.role == isRoot && g.customRoots:
		return byHandle
	case n.role == isRoot:
		return plain
	case n.role == isJoin:
		return doNothing
	case n.keyGiven && n.role == isChild:
		return plain // no row has its key: any collision is an error
	case n.keyGiven:
		return doNothing // it may collide in an index that only the database knows
	case n.role == isShared && n.isKeyless() && !dialect.ReturnsCollisions(g.db):
		return plain // otherwise it would get no key, or another row's
	case g.db.FullSaveAssociations:
		return updateAll
	case n.role == isChild:
		return updateKey
	}
	return doNothing
}

// isKeyless reports whether the database is to make the row's key.
func (n *node) isKeyless() bool { return n.model.autoKey && keyText(n) == "" }

// keyText returns the text of a row's key. It is empty if a part is not known yet.
func keyText(n *node) (text string) {
	for _, f := range n.model.schema.PrimaryFields {
		part := rows.Text(rows.Field(n.row, f.StructField.Index))
		if part == "" {
			return ""
		}
		text += part + "\x00"
	}
	return text
}
