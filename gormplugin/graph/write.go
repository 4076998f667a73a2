package graph

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// writer writes a graph in one transaction.
type writer struct {
	*graph
	cfg    Config
	tx     *gorm.DB
	result Result
}

// writeBatches writes batch after batch, each by gorm's create without associations.
func (w *writer) writeBatches(batches []batch) error {
	for i := range batches {
		b := &batches[i]
		if err := w.copyKeys(b); err != nil {
			return err
		}
		for _, chunk := range w.chunks(b.group, w.sorted(b)) {
			if err := w.insert(b.group, chunk); err != nil {
				return err
			}
		}
	}
	return w.checkHooks()
}

// copyKeys sets the foreign keys of a batch, whose parents are written or come before. As in gorm, rows that
// may exist and have one key are one row: the first.
func (w *writer) copyKeys(b *batch) error {
	for _, n := range b.rows {
		for at := n.edges; at > 0; at = w.edges[at-1].next {
			e := &w.edges[at-1]
			for i := range *e.refs {
				r := &(*e.refs)[i]
				if r.isMissing(e.parent.row) {
					if w.db.DryRun {
						continue // the database makes it
					}
					return fmt.Errorf("graph: %s.%s is zero, and %s.%s refers to it: the row was not written",
						e.parent.model.schema.Name, r.from.Name, n.model.schema.Name, r.to.Name)
				}
				if err := r.copy(w.ctx, e.parent.row, n.row); err != nil {
					return err
				}
			}
		}
	}
	if b.manner == doNothing || b.manner == moveChild || b.manner == updateAll {
		met := make(map[string]bool, len(b.rows))
		b.rows = slices.DeleteFunc(b.rows, func(n *node) bool {
			key := n.keyText()
			repeated := key != "" && n.role != isJoin && met[key]
			met[key] = true
			return repeated
		})
	}
	return nil
}

// sorted returns the rows of a batch in the order in which they are written. Rows that other
// transactions may write too lock what they collide with, and transactions that lock in one order
// do not deadlock: such rows are sorted by the columns that their tags declare unique, and then by
// their keys.
func (w *writer) sorted(b *batch) []*node {
	if len(b.rows) < 2 || b.rows[0].role != isShared || slices.ContainsFunc(b.rows, func(n *node) bool { return w.hasParentIn(n, b.group) }) {
		return b.rows
	}
	fields := slices.Clone(b.model.schema.PrimaryFields)
	if sets, err := w.keys.Uniques(w.db, b.model.schema); err == nil { // the plugin reports the error
		for _, set := range slices.Backward(sets) {
			fields = slices.Concat(set.Fields, fields)
		}
	}
	texts := make(map[*node]string, len(b.rows))
	for _, n := range b.rows {
		for _, f := range fields {
			// A collation may ignore case and trailing spaces.
			texts[n] += strings.ToLower(strings.TrimRight(rows.Text(rows.Field(n.row, f.StructField.Index)), " ")) + "\x00"
		}
	}
	return slices.SortedStableFunc(slices.Values(b.rows), func(a, b *node) int { return strings.Compare(texts[a], texts[b]) })
}

// hasParentIn reports whether a row refers to another of the group, which must come first.
func (g *graph) hasParentIn(n *node, gr *group) bool {
	for at := n.edges; at > 0; at = g.edges[at-1].next {
		if p := g.edges[at-1].parent; p.group == gr && p != n {
			return true
		}
	}
	return false
}

// insert writes rows by one INSERT.
func (w *writer) insert(gr *group, list []*node) error {
	tx := w.session(gr)
	selects, omits := slices.Clone(tx.Statement.Selects), slices.Clone(tx.Statement.Omits)
	upsert := hasConflictClause(tx.Statement)
	tx = tx.Create(structsOf(list))
	stmt := tx.Statement
	if tx.Error != nil {
		return fmt.Errorf("graph: create %s: %w", gr.model.schema.Name, w.explain(tx.Error, gr.model, list))
	}
	n := len(selects) // the plugin may add columns
	if len(stmt.Selects) < n || !slices.Equal(stmt.Selects[:n], selects) || n == 0 && len(stmt.Selects) > 0 || !slices.Equal(stmt.Omits, omits) || !upsert && hasConflictClause(stmt) {
		return fmt.Errorf("graph: create %s: a scope or a hook sets Select, Omit or a conflict clause: set them on the handle", gr.model.schema.Name)
	}
	w.record(gr, tx)
	return nil
}

// structsOf returns what gorm creates: a pointer to the row, or to a slice of pointers to the rows.
func structsOf(list []*node) any {
	if len(list) == 1 {
		return list[0].row.Addr().Interface()
	}
	t := reflect.SliceOf(reflect.PointerTo(list[0].row.Type()))
	dest := reflect.New(t)
	dest.Elem().Set(reflect.MakeSlice(t, len(list), len(list)))
	for i, n := range list {
		dest.Elem().Index(i).Set(n.row.Addr())
	}
	return dest.Interface()
}

// session returns the handle for one INSERT: the caller's for the given rows, and else one like
// gorm's for an association. It omits relations by name: for clause.Associations, gorm uses a map
// to which it adds when it first meets another model.
func (w *writer) session(gr *group) *gorm.DB {
	tx := w.tx.Session(&gorm.Session{NewDB: gr.manner != asHandleSays})
	// Only of this session: the writer makes the chunks, and has a transaction.
	tx.CreateBatchSize, tx.SkipDefaultTransaction = 0, true
	if gr.manner == asHandleSays {
		tx = tx.Omit(append(slices.Clone(w.db.Statement.Omits), gr.model.related...)...)
		returnInPlace(tx.Statement, gr.model.schema)
		return tx
	}
	tx = tx.Omit(gr.model.related...)
	w.db.Statement.Settings.Range(func(key, value any) bool {
		tx.Statement.Settings.Store(key, value)
		return true
	})
	var key []clause.Column
	for _, name := range gr.model.schema.PrimaryFieldDBNames {
		key = append(key, clause.Column{Name: name})
	}
	switch gr.manner {
	case doNothing:
		tx = tx.Clauses(clause.OnConflict{DoNothing: true})
	case moveChild:
		tx = tx.Clauses(clause.OnConflict{Columns: key, DoUpdates: clause.AssignmentColumns(strings.Split(gr.updates, ","))})
	case updateAll:
		tx = tx.Clauses(clause.OnConflict{Columns: key, UpdateAll: true}).Set("gorm:update_track_time", true)
	}
	return tx
}

// hasConflictClause reports whether a statement may leave a row unwritten.
func hasConflictClause(stmt *gorm.Statement) bool {
	insert, modified := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	_, conflict := stmt.Clauses["ON CONFLICT"]
	return conflict || modified && insert.Modifier != ""
}

// returnInPlace names the columns of a RETURNING *, which gorm would scan into new structs
// instead of those that were given.
func returnInPlace(stmt *gorm.Statement, s *schema.Schema) {
	r, ok := stmt.Clauses["RETURNING"].Expression.(clause.Returning)
	if !ok || len(r.Columns) > 1 || len(r.Columns) == 1 && r.Columns[0].Name != "*" {
		return
	}
	r.Columns = nil
	for _, name := range s.DBNames {
		if s.FieldsByDBName[name].Readable {
			r.Columns = append(r.Columns, clause.Column{Name: name})
		}
	}
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: r}
}

// record adds what a statement has written to the result.
func (w *writer) record(gr *group, tx *gorm.DB) {
	table := gr.model.schema.Table
	if gr.manner == asHandleSays {
		w.result.RowsAffected += tx.RowsAffected
		if name := w.db.Statement.Table; name != "" {
			table = name
		}
	}
	i := slices.IndexFunc(w.result.Tables, func(t TableResult) bool { return t.Table == table })
	if i < 0 {
		i = len(w.result.Tables)
		w.result.Tables = append(w.result.Tables, TableResult{Table: table})
	}
	w.result.Tables[i].Inserts++
	w.result.Tables[i].RowsAffected += tx.RowsAffected
	if w.db.DryRun {
		w.result.Statements = append(w.result.Statements, Statement{SQL: tx.Statement.SQL.String(), Vars: slices.Clone(tx.Statement.Vars)})
	}
}

// checkHooks refuses what hooks have done to the relations of the rows: it would not be written.
func (w *writer) checkHooks() error {
	if !slices.ContainsFunc(w.order, func(n *node) bool { return n.model.hooks }) {
		return nil
	}
	again := w.graph.again()
	if err := again.walk(); err != nil || !w.sameRows(again) {
		return errors.Join(errors.New("graph: a hook has added, removed or moved associated rows: do that before the create"), err)
	}
	return nil
}
