package graph

import (
	"context"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Assign gives every row of a graph its key and its foreign keys, and writes nothing. value is a
// pointer to a model, or a slice of models or of pointers to them.
//
// All keys that are zero come from one reservation of each source. Their order depends on the
// graph alone: the parents of a row, the row, then its children in the order of gorm's relations
// and of their slices. A key that is set never changes. Assign overwrites foreign keys, and the type
// of a polymorphic relation, as gorm does. It skips relations that Select or Omit leaves out, and
// leaves foreign keys to auto-increment keys to [Create].
//
// On an error nothing is changed. A nil pointer in place of a row, and a row by value, are errors;
// a nil relation is not. If ctx is done, Assign takes no keys. A nil ctx is never done.
func Assign(ctx context.Context, db *gorm.DB, value any) error {
	g, err := newGraph(ctx, db, value, false)
	if err != nil {
		return err
	}
	restore := g.snapshot()
	if err = g.assign(); err != nil {
		restore()
	}
	return err
}

func (g *graph) assign() error {
	if err := g.giveKeys(true); err != nil {
		return err
	}
	for _, n := range g.order {
		if err := g.copyKeysInOrder(n); err != nil {
			return err
		}
	}
	for _, n := range g.order {
		for i := range n.model.columns {
			c := &n.model.columns[i]
			if zero, _ := c.IsZero(n.row); zero && c.Source == nil {
				return fmt.Errorf("graph: foreign key %s is zero", c.Name)
			}
		}
	}
	return nil
}

// copyKeysInOrder sets the foreign keys of a row after its parents': a key may be a foreign key.
func (g *graph) copyKeysInOrder(n *node) error {
	if n.tried > 0 {
		return nil
	}
	n.tried = 1
	for at := n.first; at > 0; at = g.edges[at-1].next {
		if err := g.copyKeysInOrder(g.edges[at-1].parent); err != nil {
			return err
		}
	}
	return g.copyKeys(n, false)
}

// copyKeys sets the foreign keys of a row. It skips a parent without a key, or returns an error if
// the keys are needed.
func (g *graph) copyKeys(n *node, needed bool) error {
	for at := n.first; at > 0; at = g.edges[at-1].next {
		e := &g.edges[at-1]
		for i := range *e.refs {
			r := &(*e.refs)[i]
			if !r.isMissing(e.parent.row) {
				if err := r.copy(g.ctx, e.parent.row, n.row); err != nil {
					return err
				}
			} else if needed {
				return fmt.Errorf("graph: %s is zero, because its row was not written, and %s refers to it", keys.FieldName(r.from), keys.FieldName(r.to))
			}
		}
	}
	return nil
}

// giveKeys sets zero keys, from one reservation. Unless all is true, it leaves rows that may exist,
// and columns beside the key, to the plugin.
func (g *graph) giveKeys(all bool) error {
	var reserved keys.Reservation
	type need struct {
		n *node
		c *keys.Column
	}
	needs := make([]need, 0, len(g.order)) // most rows need one key
	for _, n := range g.order {
		if !all && (n.role > isChild || n.role == isRoot && g.upsert) {
			continue
		}
		for i := range n.model.columns {
			c := &n.model.columns[i]
			if c.Source == nil || !all && !c.Field.PrimaryKey {
				continue
			}
			if zero, _ := c.IsZero(n.row); zero { // the row can be set: there is no error
				reserved.Need(c, 1)
				needs = append(needs, need{n, c})
			}
		}
	}
	if err := reserved.Take(g.ctx); err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	for _, w := range needs {
		zero := len(w.n.model.embedded) == 0
		if !zero {
			zero, _ = w.c.IsZero(w.n.row)
		}
		if !zero {
			return fmt.Errorf("graph: %s: rows share the embedded struct that holds their key: %w", w.c.Name, gorm.ErrInvalidData)
		}
		w.c.Set(g.ctx, w.n.row, reserved.IDs(w.c, 1)[0])
		w.n.keyGiven = w.n.keyGiven || w.c.Field.PrimaryKey
	}
	return nil
}

// reference copies one column of a key to a foreign key.
type reference struct {
	from     *schema.Field // nil: the constant
	constant string        // the type of a polymorphic relation
	to       *schema.Field
	made     bool // a zero from is not known yet
}

// isMissing reports whether the parent has no value yet.
func (r *reference) isMissing(parent reflect.Value) bool {
	if !r.made {
		return false
	}
	v := rows.Indirect(rows.Field(parent, r.from.StructField.Index))
	return !v.IsValid() || v.IsZero()
}

// copy sets the child's column to the parent's. It replaces a pointer, because another row may share
// the old one.
func (r *reference) copy(ctx context.Context, parent, child reflect.Value) error {
	if r.from == nil {
		return r.to.Set(ctx, child, r.constant)
	}
	from, leaf := rows.Indirect(rows.Field(parent, r.from.StructField.Index)), r.to.ReflectValueOf(ctx, child)
	switch {
	case !from.IsValid():
		leaf.SetZero()
		return nil
	case leaf.Type() == from.Type():
		leaf.Set(from)
		return nil
	case leaf.Kind() == reflect.Int64 && from.Kind() == reflect.Int64:
		leaf.SetInt(from.Int())
		return nil
	case leaf.Kind() == reflect.Pointer:
		if rows.Text(leaf) == rows.Text(from) {
			return nil
		}
		leaf.SetZero() // gorm allocates a new one
	}
	if err := r.to.Set(ctx, child, from.Interface()); err != nil {
		return fmt.Errorf("graph: %s: %w", keys.FieldName(r.to), err)
	}
	if rows.Text(leaf) != rows.Text(from) { // gorm cuts a number, or makes a character of it
		return fmt.Errorf("graph: %s: the type %s cannot hold %s of type %s: make the types the same",
			keys.FieldName(r.to), keys.TypeName(r.to.FieldType), keys.FieldName(r.from), keys.TypeName(r.from.FieldType))
	}
	return nil
}
