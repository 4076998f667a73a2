package graph

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

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
// a nil relation is not. If ctx is done, Assign takes no keys.
func Assign(ctx context.Context, db *gorm.DB, value any) error {
	g, err := newGraph(ctx, db, value, false)
	if err != nil {
		return err
	}
	g.snapshot()
	err = g.giveKeys(true)
	for i := 0; i < len(g.nodes) && err == nil; i++ {
		err = g.copyKeysInOrder(g.nodes[i])
	}
	if err != nil {
		g.restore()
	}
	return err
}

// copyKeysInOrder sets the foreign keys of a row after its parents': a key may be a foreign key.
func (g *graph) copyKeysInOrder(n *node) (err error) {
	if n.copied {
		return nil
	}
	n.copied = true
	for e := n.parents; e != nil && err == nil; e = e.nextParent {
		err = g.copyKeysInOrder(e.parent)
	}
	err = cmp.Or(err, g.copyKeys(n, false))
	for i := range n.model.columns {
		c := &n.model.columns[i]
		if c.Source == nil && c.IsZero(n.row) {
			err = cmp.Or(err, fmt.Errorf("graph: %w", c.ErrNotSet()))
		}
	}
	return err
}

// copyKeys sets the foreign keys of a row. It skips a parent without a key, or returns an error if
// the keys are needed. It writes nothing that is equal: goroutines may share the row.
func (g *graph) copyKeys(n *node, needed bool) error {
	for e := n.parents; e != nil; e = e.nextParent {
		switch missing := e.isMissing(); {
		case missing && needed:
			return fmt.Errorf("graph: %s is zero, because its row was not written, and %s refers to it",
				keys.FieldName(e.ref.from), keys.FieldName(e.ref.to))
		case missing || e.isCopied():
			continue
		case n.loaded:
			g.save(e.ref.to.ReflectValueOf(g.ctx, n.row))
		}
		if err := e.copyKey(g.ctx); err != nil {
			return err
		}
	}
	return nil
}

// giveKeys sets zero keys, taken at once. Unless all is true, it leaves rows that may exist,
// and columns other than the key, to the plugin.
func (g *graph) giveKeys(all bool) error {
	needs, nodes := make([]keys.Need, 0, len(g.nodes)), make([]*node, 0, len(g.nodes)) // most rows need one key
	for _, n := range g.nodes {
		if !all && (n.role > isChild || n.role == isRoot && g.upsert) {
			continue
		}
		for i := range n.model.columns {
			c := &n.model.columns[i]
			if c.Source != nil && (all || c.Field.PrimaryKey) && c.IsZero(n.row) {
				needs, nodes = append(needs, keys.Need{Column: c, N: 1}), append(nodes, n)
			}
		}
	}
	if err := keys.TakeIDs(g.ctx, needs); err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	for k, n := range nodes {
		c := needs[k].Column
		if !c.IsZero(n.row) {
			return fmt.Errorf("graph: %s: rows share the embedded struct that holds their key: %w", c.Name, gorm.ErrInvalidData)
		}
		c.Set(g.ctx, n.row, needs[k].IDs[0])
		n.keyGiven = n.keyGiven || c.Field.PrimaryKey
	}
	return nil
}

// reference copies one column of a key to a foreign key.
type reference struct {
	from     *schema.Field // nil: the constant
	constant reflect.Value // the type of a polymorphic relation
	to       *schema.Field
	made     bool // a zero from is not known yet
}

// parentValue returns the parent's column, which is the zero Value for NULL, or the constant.
func (e *edge) parentValue() reflect.Value {
	if e.ref.from == nil {
		return e.ref.constant
	}
	return rows.Indirect(rows.Field(e.parent.row, e.ref.from.StructField.Index))
}

// isMissing reports whether the parent has no value yet.
func (e *edge) isMissing() bool {
	from := e.parentValue()
	return e.ref.made && (!from.IsValid() || from.IsZero())
}

// isCopied reports whether the child's column is equal to the parent's.
func (e *edge) isCopied() bool {
	from, to := e.parentValue(), rows.Field(e.child.row, e.ref.to.StructField.Index)
	switch {
	case !from.IsValid():
		return !to.IsValid() || to.IsZero()
	case to.IsValid() && to.CanInt() && from.CanInt():
		return to.Int() == from.Int()
	}
	return rows.Text(to) == rows.Text(from)
}

// copyKey sets the child's column to the parent's. It replaces a pointer, because another row may share
// the old one.
func (e *edge) copyKey(ctx context.Context) error {
	from, to := e.parentValue(), e.ref.to
	leaf := to.ReflectValueOf(ctx, e.child.row)
	leaf.SetZero() // gorm allocates a new pointer
	switch {
	case !from.IsValid():
		return nil
	case leaf.Kind() == reflect.Int64 && from.Kind() == reflect.Int64:
		leaf.SetInt(from.Int())
		return nil
	}
	if err := to.Set(ctx, e.child.row, from.Interface()); err != nil {
		return fmt.Errorf("graph: %s: %w", keys.FieldName(to), err)
	}
	if e.ref.from != nil && !e.isCopied() { // gorm cuts a number, or makes a character of it
		return fmt.Errorf("graph: %s: the type %s cannot hold %s of type %s: make the types the same",
			keys.FieldName(to), keys.TypeName(to.FieldType), keys.FieldName(e.ref.from), keys.TypeName(e.ref.from.FieldType))
	}
	return nil
}

// snapshot saves the rows, before anything is set, and the structs that they embed behind pointers.
// Of loaded rows it saves nothing: copyKeys saves the foreign keys that it changes.
func (g *graph) snapshot() {
	g.saved = make([][2]reflect.Value, 0, len(g.nodes))
	for _, n := range g.nodes {
		if n.loaded = g.isLoaded(n); n.loaded {
			continue
		}
		g.save(n.row)
		for _, path := range n.model.embedded {
			if p := rows.Field(n.row, path); p.IsValid() && !p.IsNil() {
				g.save(p.Elem())
			}
		}
	}
}

func (g *graph) save(v reflect.Value) {
	saved := reflect.New(v.Type()).Elem()
	saved.Set(v)
	g.saved = append(g.saved, [2]reflect.Value{v, saved})
}

// restore undoes what was set since snapshot, also by hooks and gorm.
func (g *graph) restore() {
	for _, s := range slices.Backward(g.saved) {
		s[0].Set(s[1])
	}
}

// isLoaded reports whether other goroutines may share a row, which is then not restored: a parent or
// the far side of a many2many whose keys are set, and their children whose keys are set.
func (g *graph) isLoaded(n *node) bool {
	isZero := func(c keys.Column) bool { return c.IsZero(n.row) }
	if n.role == isRoot || n.role == isJoin || g.db.FullSaveAssociations || // which writes them
		slices.ContainsFunc(n.model.columns, isZero) || n.keyText() == "" {
		return false
	}
	for e := n.parents; n.role == isChild && e != nil; e = e.nextParent {
		if !e.parent.loaded {
			return false
		}
	}
	return true
}
