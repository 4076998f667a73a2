package graph

import (
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// bare returns a handle in the transaction without the clauses of the caller's.
func (w *writer) bare() *gorm.DB {
	tx := w.tx.Session(&gorm.Session{NewDB: true})
	// Only of this session: the writer makes the chunks, and has a transaction.
	tx.CreateBatchSize, tx.SkipDefaultTransaction = 0, true
	return tx
}

// copySettings gives a statement the settings of the caller's handle.
func (w *writer) copySettings(tx *gorm.DB) {
	w.db.Statement.Settings.Range(func(key, value any) bool {
		tx.Statement.Settings.Store(key, value)
		return true
	})
}

// session returns the handle for one INSERT: the caller's for the roots, and else one like gorm's
// for an association. It omits relations by name: for clause.Associations, gorm uses a map to
// which it adds when it first meets another model.
func (w *writer) session(b *batch, byHandle bool) *gorm.DB {
	m := b.model
	if byHandle {
		tx := w.tx.Session(&gorm.Session{})
		tx.CreateBatchSize, tx.SkipDefaultTransaction = 0, true
		tx = tx.Omit(append(slices.Clone(w.db.Statement.Omits), m.related...)...)
		returnInPlace(tx.Statement, m.schema)
		return tx
	}
	tx := w.bare().Omit(append(slices.Clone(m.scope.omits), m.related...)...)
	if len(m.scope.selects) > 0 {
		tx = tx.Select(m.scope.selects)
	}
	w.copySettings(tx)
	key := make([]clause.Column, 0, 1)
	for _, name := range m.schema.PrimaryFieldDBNames {
		key = append(key, clause.Column{Name: name})
	}
	switch b.id.conflict {
	case doNothing:
		tx = tx.Clauses(clause.OnConflict{DoNothing: true})
	case updateKey:
		tx = tx.Clauses(clause.OnConflict{Columns: key, DoUpdates: clause.AssignmentColumns(b.rows[0].via.columns)})
	case updateAll:
		tx = tx.Clauses(clause.OnConflict{Columns: key, UpdateAll: true}).Set("gorm:update_track_time", true)
	}
	return tx
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
