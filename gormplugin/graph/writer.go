package graph

import (
	"slices"

	"gorm.io/gorm"
)

// writer writes a graph in one transaction.
type writer struct {
	*graph
	cfg    Config
	tx     *gorm.DB
	begun  []*insertion
	done   []*insertion   // written, and their hooks after the INSERT have not run
	unset  []*deferredRef // references that are still to be set
	result Result
	commit commitState
}

// writeAll writes batch after batch. When hooks may have changed the graph, it schedules the
// rest again.
func (w *writer) writeAll(batches []*batch) error {
	for len(batches) > 0 {
		b := batches[0]
		if w.stale { // before the hooks: they see the keys, and what they make of them stays
			if err := w.copyKeys(); err != nil {
				return err
			}
		}
		hooked, err := w.begin(b, batches[1:])
		if err != nil {
			return err
		}
		if hooked {
			if err := w.assign(); err != nil {
				return err
			}
			if batches, err = w.schedule(); err != nil {
				return err
			}
			continue
		}
		if err := w.writeBatch(b); err != nil {
			return err
		}
		batches = batches[1:]
	}
	if err := w.writeDeferred(); err != nil {
		return err
	}
	for _, ins := range slices.Backward(w.done) {
		if err := ins.finish(); err != nil {
			return err
		}
	}
	return nil
}

// begin runs the hooks of a batch that precede its INSERT. Before those, it runs the hooks of the
// later batches that belong to it, unless these wait for another parent. hooked reports whether
// a hook has run that may change rows.
func (w *writer) begin(b *batch, later []*batch) (hooked bool, err error) {
	if b.insertions != nil {
		return false, nil
	}
	for _, c := range later {
		if c.insertions != nil || !c.model.hasBeforeHooks(w.db) || !w.belongsTo(c, b) || w.waitsForParent(c) {
			continue
		}
		if hooked, err = w.begin(c, nil); err != nil {
			return hooked, err
		}
	}
	if !b.model.hasHooks(w.db) {
		return hooked, nil
	}
	for _, chunk := range w.chunks(b) {
		ins := w.newInsertion(b, chunk)
		b.insertions = append(b.insertions, ins)
		for _, n := range chunk {
			n.state, n.batch = begun, b
		}
		if err := ins.begin(); err != nil {
			return true, err
		}
	}
	return hooked || b.model.hasBeforeHooks(w.db), nil
}

// belongsTo reports whether a row of c refers to one of b by a belongs-to relation.
func (w *writer) belongsTo(c, b *batch) bool {
	return slices.ContainsFunc(w.edges, func(e edge) bool {
		return e.belongsTo && e.child.group != nil && e.parent.group != nil && e.child.group.id == c.id && e.parent.group.id == b.id
	})
}

// waitsForParent reports whether a parent that lists rows of the batch is not written yet.
func (w *writer) waitsForParent(c *batch) bool {
	return slices.ContainsFunc(w.edges, func(e edge) bool {
		return !e.belongsTo && e.child.group != nil && e.child.group.id == c.id && e.parent.state != written && e.parent.role != isOmitted
	})
}

func (w *writer) writeBatch(b *batch) error {
	insertions := b.insertions
	if insertions == nil {
		for _, chunk := range w.chunks(b) {
			insertions = append(insertions, w.newInsertion(b, chunk))
		}
	}
	for _, ins := range insertions {
		if b.model.autoKey {
			w.saveKeys(ins.rows)
		}
		if err := w.writeWithout(b, ins); err != nil {
			return err
		}
		w.record(b, ins)
		for _, n := range ins.rows {
			n.state = written
		}
		w.stale = w.stale || b.model.autoKey
	}
	return nil
}

// saveKeys saves the keys that gorm will set, because the database makes them.
func (w *writer) saveKeys(list []*node) {
	for _, n := range list {
		for _, f := range n.model.schema.PrimaryFields {
			at, index := descend(n.row, f.StructField.Index, nil)
			w.undo.save(f.ReflectValueOf(w.ctx, n.row))
			w.undo.saveMade(at, index)
		}
	}
}

// record adds what a statement has written to the result.
func (w *writer) record(b *batch, ins *insertion) {
	if ins.byHandle {
		w.result.RowsAffected += ins.count
	} else {
		for _, n := range ins.rows {
			if n.role == isRoot {
				w.result.RowsAffected++ // a plain INSERT, which may have other rows too
			}
		}
	}
	table := b.model.schema.Table
	if stmt := w.db.Statement; ins.byHandle && stmt.Table != "" {
		table = stmt.Table
	}
	i := slices.IndexFunc(w.result.Tables, func(t TableResult) bool { return t.Table == table })
	if i < 0 {
		i = len(w.result.Tables)
		w.result.Tables = append(w.result.Tables, TableResult{Table: table})
	}
	w.result.Tables[i].Inserts++
	w.result.Tables[i].RowsAffected += ins.count
}

// recordStatement adds a statement that a DryRun handle has built to the result.
func (w *writer) recordStatement(db *gorm.DB) {
	if w.db.DryRun {
		w.result.Statements = append(w.result.Statements, Statement{SQL: db.Statement.SQL.String(), Vars: slices.Clone(db.Statement.Vars)})
	}
}

// stop ends the insertions that were begun and not finished.
func (w *writer) stop() {
	for _, ins := range w.begun {
		ins.end()
	}
}
