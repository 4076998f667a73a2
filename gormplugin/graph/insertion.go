package graph

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/insert"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// insertion is one pass through gorm's create callbacks, for one INSERT. If the model has hooks,
// it is a coroutine that pauses after the hooks before the INSERT, and before the hooks after it:
// meanwhile, the hooks of other rows run, and other rows are written.
type insertion struct {
	w        *writer
	byHandle bool // the roots, as the caller's handle says
	rows     []*node
	tx       *gorm.DB
	dest     any
	met      bool // the callbacks of the plugin have run

	selects, omits []string // as the graph was walked

	hooks  bool
	yield  func(struct{}) bool
	resume func() (struct{}, bool)
	end    func()
	count  int64    // the rows that the INSERT affected, as gorm counts them
	result *gorm.DB // nil until it has ended
}

var _ insert.Insert = (*insertion)(nil)

var errStopped = errors.New("graph: stopped, because another part of the graph failed")

func (m *model) hasBeforeHooks(db *gorm.DB) bool {
	return !db.Statement.SkipHooks && (m.schema.BeforeSave || m.schema.BeforeCreate)
}

func (m *model) hasHooks(db *gorm.DB) bool {
	return m.hasBeforeHooks(db) || !db.Statement.SkipHooks && (m.schema.AfterSave || m.schema.AfterCreate)
}

func (w *writer) newInsertion(b *batch, list []*node) *insertion {
	ins := &insertion{w: w, rows: list, byHandle: b.id.conflict == byHandle, hooks: b.model.hasHooks(w.db)}
	if len(list) == 1 {
		ins.dest = list[0].row.Addr().Interface()
	} else {
		slice := reflect.MakeSlice(reflect.SliceOf(list[0].row.Addr().Type()), len(list), len(list))
		for i, n := range list {
			slice.Index(i).Set(n.row.Addr())
		}
		dest := reflect.New(slice.Type())
		dest.Elem().Set(slice)
		ins.dest = dest.Interface()
	}
	ins.tx = insert.With(w.insertSession(b), ins)
	ins.selects, ins.omits = slices.Clone(ins.tx.Statement.Selects), slices.Clone(ins.tx.Statement.Omits)
	if ins.hooks {
		ins.resume, ins.end = iter.Pull(func(yield func(struct{}) bool) {
			ins.yield = yield
			ins.result = ins.tx.Create(ins.dest)
		})
		w.begun = append(w.begun, ins)
	}
	return ins
}

// begin runs the hooks before the INSERT.
func (ins *insertion) begin() error {
	if _, more := ins.resume(); !more {
		return ins.err()
	}
	return nil
}

// write sends the INSERT.
func (ins *insertion) write() error {
	if !ins.hooks {
		ins.result = ins.tx.Create(ins.dest)
		return ins.err()
	}
	ins.sort()
	if _, more := ins.resume(); !more {
		return ins.err()
	}
	ins.w.done = append(ins.w.done, ins)
	return nil
}

// finish runs the hooks after the INSERT.
func (ins *insertion) finish() error {
	if _, more := ins.resume(); more {
		ins.end()
		return fmt.Errorf("graph: %s: the callbacks of create are out of order", ins.rows[0].model.schema.Name)
	}
	return ins.err()
}

// err returns how the callbacks ended.
func (ins *insertion) err() error {
	name := ins.rows[0].model.schema.Name
	if err := ins.result.Error; err != nil {
		return fmt.Errorf("graph: create %s: %w", name, err)
	}
	if !ins.met {
		return fmt.Errorf("graph: create %s: the plugin's callbacks did not run, because one of gorm's was removed", name)
	}
	return nil
}

// The methods of insert.Insert, which the plugin's callbacks call.

func (ins *insertion) Dest() any { return ins.dest }

// Begin finds the changes of a scope.
func (ins *insertion) Begin(db *gorm.DB) { ins.checkSelection(db) }

// Before finds the changes of a hook, and pauses.
func (ins *insertion) Before(db *gorm.DB) {
	ins.met = true
	ins.checkSelection(db)
	if ins.hooks && db.Error == nil && !ins.yield(struct{}{}) {
		_ = db.AddError(errStopped)
	}
}

func (ins *insertion) checkSelection(db *gorm.DB) {
	selects, n := db.Statement.Selects, len(ins.selects) // the plugin may add columns
	same := len(selects) >= n && slices.Equal(selects[:n], ins.selects) && (n > 0 || len(selects) == 0)
	if db.Error == nil && (!same || !slices.Equal(db.Statement.Omits, ins.omits)) {
		_ = db.AddError(errors.New("a scope or a hook sets Select or Omit, after the graph was walked: set them on the handle"))
	}
}

func (ins *insertion) After(db *gorm.DB) {
	if db.Error != nil {
		return
	}
	ins.w.recordStatement(db)
	ins.count = db.RowsAffected
	if ins.hooks && !ins.yield(struct{}{}) {
		db.Statement.SkipHooks = true
	}
}

func (ins *insertion) KeyGiven(i int) bool { return ins.rows[i].keyGiven }
func (ins *insertion) Given() *rows.IDs    { return rows.NewIDs(ins.w.undo.given) }

func (ins *insertion) Replacing(field reflect.Value) {
	ins.w.undo.save(field)
	ins.w.stale = true
}

func (ins *insertion) IsParent(i int) bool {
	return slices.ContainsFunc(ins.w.edges, func(e edge) bool { return e.parent == ins.rows[i] })
}

// session returns a handle in the transaction: the caller's, or one without its clauses.
func (w *writer) session(byHandle bool) *gorm.DB {
	tx := w.tx.Session(&gorm.Session{NewDB: !byHandle})
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

// insertSession returns the handle for one INSERT: the caller's for the roots, and else one like gorm's
// for an association. It omits relations by name: for clause.Associations, gorm uses a map to
// which it adds when it first meets another model.
func (w *writer) insertSession(b *batch) *gorm.DB {
	m := b.model
	if b.id.conflict == byHandle {
		tx := w.session(true).Omit(append(slices.Clone(w.db.Statement.Omits), m.related...)...)
		returnInPlace(tx.Statement, m.schema)
		return tx
	}
	tx := w.session(false).Omit(append(slices.Clone(m.scope.omits), m.related...)...)
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
