package graph

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Assign gives every row of a graph its key and its foreign keys, and writes nothing. value is a
// pointer to a model, or a slice of models or of pointers to them. The graph is all that can be
// reached from it by belongs-to, has-one, has-many, many2many and polymorphic relations, to any
// depth. A row that is reached more than once, also in a cycle, is one row.
//
// All keys that are zero come from one reservation of each source. Their order depends on the
// graph alone: the parents of a row, the row, then its children in the order of gorm's relations
// and of their slices. A key that is set never changes. Foreign keys, and the type of a
// polymorphic relation, are overwritten, as in gorm; a foreign key that refers to an
// auto-increment key is left to [Create]. Relations that Select or Omit on db leave out are not
// touched.
//
// On an error nothing is changed. A nil pointer in place of a row, and a row by value, are errors;
// a nil relation is not. Assign ends when ctx or the context of db is done, with its error. A nil
// ctx never ends.
func Assign(ctx context.Context, db *gorm.DB, value any) error {
	g, err := newGraph(ctx, db, value)
	if err != nil {
		return err
	}
	defer g.end()
	if err := g.assign(); err != nil {
		g.undo.restore()
		return err
	}
	return nil
}

// assign walks the graph, gives keys, and copies them to the foreign keys.
func (g *graph) assign() error {
	if err := g.walk(); err != nil {
		return err
	}
	if err := g.giveKeys(); err != nil {
		return err
	}
	if err := g.copyKeys(); err != nil {
		return err
	}
	return g.checkForeignKeys()
}

// need is a column of a row that is zero.
type need struct {
	n      *node
	column *keys.Column
}

// giveKeys sets every zero key, from one reservation.
func (g *graph) giveKeys() error {
	var reserved keys.Reservation
	needs := make([]need, 0, len(g.order)) // most rows need one key
	embedded := map[unsafe.Pointer]bool{}  // keys in embedded structs behind pointers
	for _, n := range g.order {
		if n.state != pending || n.role == isOmitted {
			continue
		}
		if n.model.unkeyed != nil {
			return fmt.Errorf("graph: table %s: %w", n.model.schema.Table, n.model.unkeyed)
		}
		for i := range n.model.columns {
			c := &n.model.columns[i]
			if c.Source == nil {
				continue
			}
			zero, err := c.IsZero(n.row)
			if err != nil {
				return err
			}
			if !zero {
				continue
			}
			if index := c.Field.StructField.Index; rows.BehindPointer(index) {
				if key := rows.Field(n.row, index); key.IsValid() {
					at := key.Addr().UnsafePointer()
					if embedded[at] {
						return fmt.Errorf("graph: %s: rows share the embedded struct that holds their key: %w", c.Name, gorm.ErrInvalidData)
					}
					embedded[at] = true
				}
			}
			reserved.Need(c, 1)
			needs = append(needs, need{n, c})
		}
	}
	if err := reserved.Take(g.ctx); err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	g.undo.entries = slices.Grow(g.undo.entries, len(needs)+len(g.edges)) // a key and a foreign key for each row
	g.undo.given = append(g.undo.given, reserved.All()...)
	for _, w := range needs {
		g.give(w.n, w.column, reserved.IDs(w.column, 1)[0])
	}
	return nil
}

func (g *graph) give(n *node, c *keys.Column, id int64) {
	at, index := descend(n.row, c.Field.StructField.Index, nil)
	g.undo.saveKey(c.Field.ReflectValueOf(g.ctx, n.row))
	c.Set(g.ctx, n.row, id)
	g.undo.saveMade(at, index)
	n.keyGiven = n.keyGiven || c.Field.PrimaryKey
}

// copyKeys copies keys to the foreign keys of all rows that are not written yet. Children whose
// hooks have run keep what the hooks made of the foreign keys.
func (g *graph) copyKeys() error {
	// A key that is also a foreign key is copied again: in as many rounds as that chain is long.
	for range len(g.order) + 1 {
		changes := len(g.undo.entries)
		again := false
		for i := range g.edges {
			e := &g.edges[i]
			if e.child.state == written || e.child.state == begun && !e.belongsTo {
				continue
			}
			for k := range *e.refs {
				if err := g.copyKey(e, &(*e.refs)[k]); err != nil {
					return fmt.Errorf("graph: %s.%s: %w", e.child.model.schema.Name, (*e.refs)[k].to.Name, err)
				}
			}
			again = again || e.parent.model.foreignKey
		}
		if !again || len(g.undo.entries) == changes {
			break
		}
	}
	g.stale = false
	return nil
}

func (g *graph) copyKey(e *edge, r *reference) error {
	at, index := descend(e.child.row, r.to.StructField.Index, nil)
	err := r.copy(g.ctx, e.parent.row, e.child.row, &g.undo)
	g.undo.saveMade(at, index)
	return err
}

// checkForeignKeys refuses rows that should have got their key from another row.
func (g *graph) checkForeignKeys() error {
	for _, n := range g.order {
		if !n.model.foreignKey || n.role == isJoin || n.role == isOmitted {
			continue
		}
		for i := range n.model.columns {
			c := &n.model.columns[i]
			if c.Source != nil {
				continue
			}
			if zero, err := c.IsZero(n.row); err != nil {
				return err
			} else if zero {
				return fmt.Errorf("graph: %w", c.ErrNotSet())
			}
		}
	}
	return nil
}
