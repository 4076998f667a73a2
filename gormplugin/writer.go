package gormplugin

import (
	"slices"

	"gorm.io/gorm"
)

// writer writes one graph.
type writer struct {
	*graph
	cfg    CreateConfig
	tx     *gorm.DB
	done   []*chain // written, and their hooks for afterwards still to run
	open   []*chain // begun
	unset  []*unset // references that are still to be set
	result Result
	tables map[string]int

	sent    bool // COMMIT
	unknown bool // what became of it
}

// writeAll writes batch after batch. Hooks may change the graph, and then the
// rest is put in order anew.
func (w *writer) writeAll(batches []*batch) (err error) {
	for len(batches) > 0 {
		b := batches[0]
		if w.moved { // before the hooks: they see the keys, and what they make of them stays
			if err := w.copyKeys(); err != nil {
				return err
			}
		}
		hooked, err := w.beginBatch(b, batches[1:])
		if err != nil {
			return err
		}
		if hooked {
			if err := w.assignAll(); err != nil {
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
	if err := w.writeLater(); err != nil {
		return err
	}
	for _, c := range slices.Backward(w.done) {
		if err := c.finish(); err != nil {
			return err
		}
	}
	return nil
}

// beginBatch runs the hooks of a batch, and before them those of the rows that
// belong to it, if they could be written as far as their masters are concerned.
func (w *writer) beginBatch(b *batch, later []*batch) (hooked bool, err error) {
	if b.chains != nil {
		return false, nil
	}
	for _, c := range later {
		if c.chains != nil || !c.shape.hasBefore(w.db) || !w.belongsTo(c, b) || w.waitsForMaster(c) {
			continue
		}
		if hooked, err = w.beginBatch(c, nil); err != nil {
			return hooked, err
		}
	}
	if !b.shape.hasHooks(w.db) {
		return hooked, nil
	}
	for _, rows := range w.chunks(b) {
		c := w.newChain(b, rows)
		b.chains = append(b.chains, c)
		for _, n := range rows {
			n.state, n.batch = begun, b
		}
		if err := c.begin(); err != nil {
			return true, err
		}
	}
	return hooked || b.shape.hasBefore(w.db), nil
}

// belongsTo reports whether a row of c refers to one of b by a relation of its own.
func (w *writer) belongsTo(c, b *batch) bool {
	for i := range w.edges {
		if e := &w.edges[i]; e.belongs && e.child.group != nil && e.parent.group != nil && e.child.group.id == c.id && e.parent.group.id == b.id {
			return true
		}
	}
	return false
}

// waitsForMaster reports whether a master of the batch's rows is not written yet.
func (w *writer) waitsForMaster(c *batch) bool {
	for i := range w.edges {
		if e := &w.edges[i]; !e.belongs && e.child.group != nil && e.child.group.id == c.id && e.parent.state != written && e.parent.role != isLeftOut {
			return true
		}
	}
	return false
}

func (w *writer) writeBatch(b *batch) error {
	chains := b.chains
	if chains == nil {
		for _, rows := range w.chunks(b) {
			chains = append(chains, w.newChain(b, rows))
		}
	}
	for _, c := range chains {
		if b.shape.late { // gorm sets the keys that the database makes
			for _, n := range c.rows {
				for _, f := range b.shape.schema.PrimaryFields {
					_ = w.undo.making(n.row, f.StructField.Index, func() error {
						w.undo.save(f.ReflectValueOf(w.ctx, n.row))
						return nil
					})
				}
			}
		}
		if err := w.writeWithout(b, c); err != nil {
			return err
		}
		w.tell(b, c)
		for _, n := range c.rows {
			n.state = written
		}
		w.moved = w.moved || b.shape.late
	}
	return nil
}

// tell adds what a statement has written to the result.
func (w *writer) tell(b *batch, c *chain) {
	if c.given {
		w.result.RowsAffected += c.affected()
	} else {
		for _, n := range c.rows {
			if n.role == isRoot {
				w.result.RowsAffected++ // a plain INSERT, of other rows as well
			}
		}
	}
	table := b.shape.schema.Table
	if stmt := w.db.Statement; c.given && stmt.Table != "" {
		table = stmt.Table
	}
	at, known := w.tables[table]
	if !known {
		at = len(w.result.Tables)
		w.tables[table] = at
		w.result.Tables = append(w.result.Tables, TableResult{Table: table})
	}
	w.result.Tables[at].Inserts++
	w.result.Tables[at].RowsAffected += c.affected()
}

// note keeps a statement that a DryRun handle has built.
func (w *writer) note(db *gorm.DB) {
	if w.db.DryRun {
		w.result.Statements = append(w.result.Statements, Statement{SQL: db.Statement.SQL.String(), Vars: slices.Clone(db.Statement.Vars)})
	}
}

// chunks parts a batch by the number of rows and of parameters. Rows that others may be
// writing too are sorted.
func (w *writer) chunks(b *batch) [][]*node {
	size := w.cfg.BatchSize
	if size == 0 {
		size = w.db.CreateBatchSize
	}
	if size <= 0 {
		size = 1000
	}
	const spare = 64 // for what an upsert adds
	size = min(size, max(1, (maxParameters(w.db.Name())-spare)/max(1, b.shape.columns)))
	return slices.Collect(slices.Chunk(w.sortShared(b.rows), size))
}

// maxParameters is how many the database takes in one statement.
func maxParameters(dialect string) int {
	switch dialect {
	case "postgres", "mysql":
		return 65535
	case "sqlserver":
		return 2100
	}
	return 32766 // SQLite's, and likely enough for others
}

// stop ends what was begun and will not be written.
func (w *writer) stop() {
	for _, c := range w.open {
		c.stop()
	}
}
