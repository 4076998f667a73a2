package gormplugin

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// stepKey is where a statement of [Create] has its chain.
const stepKey = "snowkey:chain"

// chain is one run of gorm's create callbacks, for one INSERT. Where the model has
// hooks it is a coroutine that rests after the hooks before, and before the
// hooks after: other rows are hooked or written meanwhile.
type chain struct {
	w     *writer
	given bool // the rows that the caller gave, by his handle
	rows  []*node
	tx    *gorm.DB
	dest  any
	ran   bool // the callback of ours was met

	selects, omits []string // as they should still be then

	hooks   bool
	yield   func(struct{}) bool
	resume  func() (struct{}, bool)
	end     func()
	stopped bool
	count   int64    // rows affected, while it rests
	result  *gorm.DB // when it has ended
}

var errStopped = errors.New("gormplugin: stopped, for another part of the graph failed")

// chainOf is the chain of a statement, or nil. A statement that a hook made from
// this one has other rows, and is none of ours.
func chainOf(stmt *gorm.Statement) *chain {
	v, ok := stmt.Settings.Load(stepKey)
	if !ok {
		return nil
	}
	if c, ok := v.(*chain); ok && c.dest == stmt.Dest {
		return c
	}
	return nil
}

// atGraph comes after the hooks and before gorm saves associations: those are
// in the graph, and it must not.
func atGraph(db *gorm.DB) {
	c := chainOf(db.Statement)
	if c == nil {
		return
	}
	c.ran = true
	stmt := db.Statement
	if n := len(c.selects); !slices.Equal(stmt.Omits, c.omits) || len(stmt.Selects) < n || !slices.Equal(stmt.Selects[:n], c.selects) || n == 0 && len(stmt.Selects) > 0 {
		_ = db.AddError(errors.New("a scope or a hook sets Select or Omit, after the graph was walked: set them on the handle"))
	}
	stmt.Omits = append(slices.Clip(stmt.Omits), c.rows[0].shape.related...)
	if c.hooks && db.Error == nil && !c.yield(struct{}{}) {
		_ = db.AddError(errStopped)
	}
}

// atRest comes when the INSERT is written, and before the hooks after.
func atRest(db *gorm.DB) {
	c := chainOf(db.Statement)
	if c == nil || db.Error != nil {
		return
	}
	c.w.note(db)
	if !c.hooks {
		return
	}
	c.count = db.RowsAffected
	if !c.yield(struct{}{}) {
		db.Statement.SkipHooks = true
	}
}

func (sh *shape) hasBefore(db *gorm.DB) bool {
	return !db.Statement.SkipHooks && (sh.schema.BeforeSave || sh.schema.BeforeCreate)
}

func (sh *shape) hasHooks(db *gorm.DB) bool {
	return sh.hasBefore(db) || !db.Statement.SkipHooks && (sh.schema.AfterSave || sh.schema.AfterCreate)
}

func (w *writer) newChain(b *batch, rows []*node) *chain {
	c := &chain{w: w, rows: rows, given: b.id.conflict == asTheyTell, hooks: b.shape.hasHooks(w.db)}
	if len(rows) == 1 {
		c.dest = rows[0].row.Addr().Interface()
	} else {
		slice := reflect.MakeSlice(reflect.SliceOf(rows[0].row.Addr().Type()), len(rows), len(rows))
		for i, n := range rows {
			slice.Index(i).Set(n.row.Addr())
		}
		dest := reflect.New(slice.Type())
		dest.Elem().Set(slice)
		c.dest = dest.Interface()
	}
	c.tx = w.session(b, c.given).Set(stepKey, c)
	c.selects, c.omits = slices.Clone(c.tx.Statement.Selects), slices.Clone(c.tx.Statement.Omits)
	if c.hooks {
		c.resume, c.end = iter.Pull(func(yield func(struct{}) bool) {
			c.yield = yield
			c.result = c.tx.Create(c.dest)
		})
		w.open = append(w.open, c)
	}
	return c
}

// bare is a handle within the transaction without the clauses of the caller's.
func (w *writer) bare() *gorm.DB {
	tx := w.tx.Session(&gorm.Session{NewDB: true})
	// Of this session: the chunks are made, and the transaction is ours.
	tx.CreateBatchSize, tx.SkipDefaultTransaction = 0, true
	return tx
}

// copySettings gives a statement what the caller has set on his handle.
func (w *writer) copySettings(tx *gorm.DB) {
	w.db.Statement.Settings.Range(func(key, value any) bool {
		tx.Statement.Settings.Store(key, value)
		return true
	})
}

// session is the handle for one INSERT: the caller's for the rows that he gave,
// else what gorm makes for an association.
func (w *writer) session(b *batch, given bool) *gorm.DB {
	tx := w.bare()
	if given {
		tx = w.tx.Session(&gorm.Session{})
		tx.CreateBatchSize, tx.SkipDefaultTransaction = 0, true
	}
	// Relations are left out by name: for clause.Associations gorm goes through a
	// map to which it adds when it first meets another model.
	if given {
		tx = tx.Omit(append(slices.Clone(w.db.Statement.Omits), b.shape.related...)...)
		returnInPlace(tx.Statement, b.shape.schema)
		return tx
	}
	tx = tx.Omit(append(slices.Clone(b.shape.scope.omits), b.shape.related...)...)
	if len(b.shape.scope.selects) > 0 {
		tx = tx.Select(b.shape.scope.selects)
	}
	w.copySettings(tx)
	keys := make([]clause.Column, 0, 1)
	for _, name := range b.shape.schema.PrimaryFieldDBNames {
		keys = append(keys, clause.Column{Name: name})
	}
	switch b.id.conflict {
	case doNothing:
		tx = tx.Clauses(clause.OnConflict{DoNothing: true})
	case updateKey:
		tx = tx.Clauses(clause.OnConflict{Columns: keys, DoUpdates: clause.AssignmentColumns(b.rows[0].by.updates)})
	case updateAll:
		tx = tx.Clauses(clause.OnConflict{Columns: keys, UpdateAll: true}).Set("gorm:update_track_time", true)
	}
	return tx
}

// returnInPlace names the columns of a RETURNING *, which gorm would scan into new
// structs instead of those that were given.
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

// begin runs the hooks before.
func (c *chain) begin() error {
	if _, more := c.resume(); !more {
		return c.outcome()
	}
	return nil
}

// write sends the INSERT.
func (c *chain) write() error {
	if !c.hooks {
		c.result = c.tx.Create(c.dest)
		return c.outcome()
	}
	c.sort()
	if _, more := c.resume(); !more {
		return c.outcome()
	}
	c.w.done = append(c.w.done, c)
	return nil
}

// finish runs the hooks after.
func (c *chain) finish() error {
	if _, more := c.resume(); more {
		c.stop()
		return fmt.Errorf("gormplugin: %s: the callbacks of create are out of order", c.rows[0].shape.schema.Name)
	}
	return c.outcome()
}

func (c *chain) stop() {
	if !c.stopped {
		c.stopped = true
		c.end()
	}
}

// affected is gorm's count of the INSERT.
func (c *chain) affected() int64 {
	if c.result != nil {
		return c.result.RowsAffected
	}
	return c.count
}

// outcome is how the callbacks ended.
func (c *chain) outcome() error {
	name := c.rows[0].shape.schema.Name
	if err := c.result.Error; err != nil {
		return fmt.Errorf("gormplugin: create %s: %w", name, err)
	}
	if !c.ran {
		return fmt.Errorf("gormplugin: create %s: the plugin's callback did not run, another took gorm's away", name)
	}
	return nil
}
