package gormplugin

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/clause"
)

// Rows that refer to each other in a circle are written with NULL in one of the references, which
// is set when all are there.

// unset is a foreign key that a row was written without.
type unset struct {
	n        *node
	e        edge
	l        link
	copied   bool // it is the parent's key; else a hook has set it
	conflict conflict
	key      string // the row's, before it was written
}

// writeWithout writes a statement, and meanwhile takes those references out of its rows.
func (w *writer) writeWithout(b *batch, c *chain) error {
	if len(w.later) == 0 {
		return c.write()
	}
	first := len(w.unset)
	defer w.withhold(b, c)()
	if err := c.write(); err != nil {
		return err
	}
	// A row with another key now was there, and is left as it is.
	w.unset = append(w.unset[:first], slices.DeleteFunc(w.unset[first:], func(u *unset) bool {
		return u.conflict == doNothing && u.key != "" && u.key != keyText(u.n)
	})...)
	return nil
}

// withhold clears the references. What it returns puts them back.
func (w *writer) withhold(b *batch, c *chain) (putBack func()) {
	type was struct{ field, old reflect.Value }
	var all []was
	for _, n := range c.rows {
		for _, e := range w.later[n] {
			parent := e.parent
			if parent.twin != nil {
				parent = parent.twin
			}
			if parent.state == written {
				continue // hooks have changed the order
			}
			for _, l := range *e.links {
				field := fieldAt(n.row, l.to.StructField.Index)
				if l.from == nil || !mayBeNull(l.to) || !field.IsValid() || slices.Contains(n.shape.unset, l.to.DBName) || !l.to.Creatable {
					continue
				}
				from := fieldAt(e.parent.row, l.from.StructField.Index)
				made := l.late && (!from.IsValid() || from.IsZero())
				if field.IsZero() && !made {
					continue // another relation has the same column, or a hook has cleared it
				}
				old := reflect.New(field.Type()).Elem()
				old.Set(field)
				all = append(all, was{field, old})
				copied := made || e.belongs || idText(field) == idText(from)
				w.unset = append(w.unset, &unset{n: n, e: e, l: l, copied: copied, conflict: b.id.conflict, key: keyText(n)})
				field.SetZero()
			}
		}
	}
	return func() {
		for _, one := range all {
			one.field.Set(one.old)
		}
	}
}

// keyText is empty if the key is not known yet.
func keyText(n *node) (text string) {
	for _, f := range n.shape.schema.PrimaryFields {
		part := idText(fieldAt(n.row, f.StructField.Index))
		if part == "" {
			return ""
		}
		text += part + "\x00"
	}
	return text
}

// writeLater sets those references, by one UPDATE for each row.
func (w *writer) writeLater() error {
	for first := 0; first < len(w.unset); {
		n, end := w.unset[first].n, first+1
		for end < len(w.unset) && w.unset[end].n == n {
			end++
		}
		if err := w.update(n, w.unset[first:end]); err != nil {
			return err
		}
		first = end
	}
	return nil
}

func (w *writer) update(n *node, refs []*unset) error {
	s := n.shape.schema
	set := map[string]any{}
	var where []clause.Expression
	for _, u := range refs {
		if u.copied {
			if err := w.copyKey(&u.e, &u.l); err != nil {
				return fmt.Errorf("gormplugin: %s: %w", fieldName(s, u.l.to), err)
			}
		}
		value, zero := u.l.to.ValueOf(w.ctx, n.row)
		if zero && u.copied && !w.db.DryRun {
			return fmt.Errorf("gormplugin: %s: the row that it refers to has no key", fieldName(s, u.l.to))
		}
		if _, twice := set[u.l.to.DBName]; zero || twice {
			continue
		}
		set[u.l.to.DBName] = reflect.Indirect(reflect.ValueOf(value)).Interface()
		// What an existing row refers to is left as it is.
		where = append(where, clause.Eq{Column: clause.Column{Name: u.l.to.DBName}})
	}
	if len(set) == 0 {
		return nil
	}
	tx := w.bare().Table(s.Table)
	w.copySettings(tx)
	if stmt := w.db.Statement; n.role == isRoot && stmt.Table != "" {
		tx.Statement.Table, tx.Statement.TableExpr = stmt.Table, stmt.TableExpr
	}
	for _, f := range s.PrimaryFields {
		key, _ := f.ValueOf(w.ctx, n.row)
		tx = tx.Where(clause.Eq{Column: clause.Column{Name: f.DBName}, Value: key})
	}
	tx = tx.Clauses(clause.Where{Exprs: where}).Updates(set)
	if tx.Error != nil {
		return fmt.Errorf("gormplugin: update %s: %w", s.Name, tx.Error)
	}
	if refs[0].conflict == plain && tx.RowsAffected != 1 && !w.db.DryRun {
		return fmt.Errorf("gormplugin: update %s: %d rows have the key of the one that was inserted, and NULL as its reference", s.Name, tx.RowsAffected)
	}
	w.note(tx)
	return nil
}
