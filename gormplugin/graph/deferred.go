package graph

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Rows that refer to each other in a cycle are written with NULL in one of the references, which
// is set when all rows are written.

// deferredRef is a foreign key without which a row was written.
type deferredRef struct {
	n        *node
	edge     edge
	ref      reference
	copied   bool // it is the parent's key; else a hook has set it
	conflict conflict
	key      string // of the row, before it was written
}

// writeWithout writes a statement whose rows are without those references.
func (w *writer) writeWithout(b *batch, ins *insertion) error {
	if len(w.deferred) == 0 {
		return ins.write()
	}
	first := len(w.unset)
	defer w.clearDeferred(b, ins)()
	if err := ins.write(); err != nil {
		return err
	}
	// A row that has another key now existed, and keeps what it refers to.
	w.unset = append(w.unset[:first], slices.DeleteFunc(w.unset[first:], func(d *deferredRef) bool {
		return d.conflict == doNothing && d.key != "" && d.key != keyText(d.n)
	})...)
	return nil
}

// clearDeferred clears the references. The function that it returns sets them again.
func (w *writer) clearDeferred(b *batch, ins *insertion) (restore func()) {
	type saved struct{ field, old reflect.Value }
	var all []saved
	for _, n := range ins.rows {
		for _, e := range w.deferred[n] {
			parent := e.parent
			if parent.same != nil {
				parent = parent.same
			}
			if parent.state == written {
				continue // hooks have changed the order
			}
			for _, r := range *e.refs {
				field := r.target(n.row)
				if r.from == nil || !mayBeNull(r.to) || !field.IsValid() || slices.Contains(n.model.omitted, r.to.DBName) || !r.to.Creatable {
					continue
				}
				from := r.source(e.parent.row)
				toCome := r.auto && (!from.IsValid() || from.IsZero())
				if field.IsZero() && !toCome {
					continue // another relation has the same column, or a hook has cleared it
				}
				old := reflect.New(field.Type()).Elem()
				old.Set(field)
				all = append(all, saved{field, old})
				copied := toCome || e.belongsTo || rows.Text(field) == rows.Text(from)
				w.unset = append(w.unset, &deferredRef{n: n, edge: e, ref: r, copied: copied, conflict: b.id.conflict, key: keyText(n)})
				field.SetZero()
			}
		}
	}
	return func() {
		for _, s := range all {
			s.field.Set(s.old)
		}
	}
}

// writeDeferred sets those references, with one UPDATE for each row.
func (w *writer) writeDeferred() error {
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

func (w *writer) update(n *node, refs []*deferredRef) error {
	s := n.model.schema
	set := map[string]any{}
	var where []clause.Expression
	for _, d := range refs {
		to := d.ref.to
		if d.copied {
			if err := w.copyKey(&d.edge, &d.ref); err != nil {
				return fmt.Errorf("graph: %s: %w", keys.FieldName(to), err)
			}
		}
		value, zero := to.ValueOf(w.ctx, n.row)
		if zero && d.copied && !w.db.DryRun {
			return fmt.Errorf("graph: %s: the row that it refers to has no key", keys.FieldName(to))
		}
		if _, twice := set[to.DBName]; zero || twice {
			continue
		}
		set[to.DBName] = reflect.Indirect(reflect.ValueOf(value)).Interface()
		// An existing row keeps what it refers to.
		where = append(where, clause.Eq{Column: clause.Column{Name: to.DBName}})
	}
	if len(set) == 0 {
		return nil
	}
	tx := w.session(false).Table(s.Table)
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
		return fmt.Errorf("graph: update %s: %w", s.Name, tx.Error)
	}
	if refs[0].conflict == plain && tx.RowsAffected != 1 && !w.db.DryRun {
		return fmt.Errorf("graph: update %s: %d rows have the key of the row that was inserted, and NULL as its reference", s.Name, tx.RowsAffected)
	}
	w.recordStatement(tx)
	return nil
}
