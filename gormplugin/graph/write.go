package graph

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// writer writes a graph in one transaction.
type writer struct {
	*graph
	batchSize        int
	tx               *gorm.DB // its statements are sent over conn
	conn             *conn
	commit, rollback func() error // nil: nothing to do
	result           Result
}

// writeBatches writes batch after batch, each by gorm's create without associations.
func (w *writer) writeBatches(batches []batch) error {
	hooks := false
	for i := range batches {
		b := &batches[i]
		hooks = hooks || b.model.hooks
		for _, n := range b.rows { // their parents are written, or precede them
			if err := w.copyKeys(n, !w.db.DryRun); err != nil {
				return err
			}
		}
		if b.mode != plain && b.mode != ofHandle {
			b.rows = withoutRepeated(b.rows)
		}
		for _, chunk := range w.chunks(b.model, w.sortShared(b)) {
			if err := w.insert(b.group, chunk); err != nil {
				return err
			}
		}
	}
	if !hooks {
		return nil
	}
	again, err := newGraph(w.ctx, w.db, w.value, true)
	if err == nil && !slices.Equal(again.addresses(), w.addresses()) {
		err = errors.New("graph: a hook has added, removed or moved associated rows: do that before the create")
	}
	return err
}

// withoutRepeated leaves out rows with the key of an earlier one. As in gorm, they are one row.
func withoutRepeated(list []*node) []*node {
	met := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(n *node) bool {
		key := n.keyText()
		repeated := key != "" && met[key]
		met[key] = true
		return repeated
	})
}

// sortShared returns the rows of a batch in the order in which they are written. It sorts shared rows
// by their unique columns and keys: they lock what they collide with, and transactions that lock in
// one order do not deadlock.
func (w *writer) sortShared(b *batch) []*node {
	if b.rows[0].role != isShared || len(b.rows) == 1 || b.nested {
		return b.rows
	}
	fields := b.model.schema.PrimaryFields
	sets, _ := w.keys.Uniques(w.db, b.model.schema) // the plugin reports the error
	for _, set := range slices.Backward(sets) {
		fields = slices.Concat(set.Fields, fields)
	}
	texts := make(map[*node]string, len(b.rows))
	for _, n := range b.rows {
		for _, f := range fields { // a collation may ignore case and trailing spaces
			texts[n] += strings.ToLower(strings.TrimRight(rows.Text(rows.Field(n.row, f.StructField.Index)), " ")) + "\x00"
		}
	}
	return slices.SortedStableFunc(slices.Values(b.rows), func(a, b *node) int { return strings.Compare(texts[a], texts[b]) })
}

// insert writes rows by one INSERT.
func (w *writer) insert(gr *group, list []*node) error {
	tx := w.session(gr)
	tx.Statement.Settings.Store(keys.Referred{}, func(i int) bool { return list[i].referred })
	selects, omits, upsert := slices.Clone(tx.Statement.Selects), slices.Clone(tx.Statement.Omits), hasConflictClause(tx.Statement)
	tx = tx.Create(structsOf(list))
	stmt := tx.Statement
	if tx.Error != nil {
		return fmt.Errorf("graph: create %s: %w", gr.model.schema.Name, w.addLength(tx.Error, gr.model, list))
	}
	if n := len(selects); len(stmt.Selects) < n || !slices.Equal(stmt.Selects[:n], selects) || // the plugin may add columns
		n == 0 && len(stmt.Selects) > 0 || !slices.Equal(stmt.Omits, omits) || !upsert && hasConflictClause(stmt) {
		return fmt.Errorf("graph: create %s: a scope or a hook sets Select, Omit or a conflict clause: set them on the handle", gr.model.schema.Name)
	}
	table := gr.model.schema.Table
	if gr.mode == ofHandle {
		w.result.RowsAffected += tx.RowsAffected
		table = stmt.Table
	}
	i := slices.IndexFunc(w.result.Tables, func(t TableResult) bool { return t.Table == table })
	if i < 0 {
		i = len(w.result.Tables)
		w.result.Tables = append(w.result.Tables, TableResult{Table: table})
	}
	w.result.Tables[i].Inserts++
	w.result.Tables[i].RowsAffected += tx.RowsAffected
	if w.db.DryRun {
		w.result.Statements = append(w.result.Statements, Statement{SQL: stmt.SQL.String(), Vars: slices.Clone(stmt.Vars)})
	}
	return nil
}

// structsOf returns what gorm creates: a pointer to the row, or to a slice of pointers to the rows.
func structsOf(list []*node) any {
	if len(list) == 1 {
		return list[0].row.Addr().Interface()
	}
	dest := reflect.New(reflect.SliceOf(reflect.PointerTo(list[0].row.Type())))
	dest.Elem().Set(reflect.MakeSlice(dest.Type().Elem(), len(list), len(list)))
	for i, n := range list {
		dest.Elem().Index(i).Set(n.row.Addr())
	}
	return dest.Interface()
}

// session returns the handle for one INSERT: the caller's for the given rows, and else one like
// gorm's for an association. It omits relations by name: clause.Associations would also read a map
// that gorm changes when it parses other models.
func (w *writer) session(gr *group) *gorm.DB {
	tx := w.tx.Session(&gorm.Session{NewDB: gr.mode != ofHandle})
	tx.CreateBatchSize, tx.SkipDefaultTransaction = 0, true // only of this session
	if gr.mode == ofHandle {
		tx = tx.Omit(append(slices.Clone(w.db.Statement.Omits), gr.model.related...)...)
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
	switch gr.mode {
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
