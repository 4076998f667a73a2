package gormplugin

import (
	"fmt"

	"gorm.io/gorm"
)

// A callback is one that the plugin registers with gorm.
type callback struct {
	at interface {
		Register(name string, fn func(*gorm.DB)) error
		Remove(name string) error
	}
	name string
	fn   func(*gorm.DB)
}

// callbacks are those of the plugin. "snowkey:fill" is directly before gorm:before_create,
// because the model's hooks must see the key. With SkipDefaultTransaction, a callback that is to
// run even earlier would run last.
func (p *Plugin) callbacks(db *gorm.DB) []callback {
	create, update := db.Callback().Create(), db.Callback().Update()
	return []callback{
		{create.Before("gorm:before_create"), "snowkey:fill", p.fill},
		{create.Before("gorm:create"), "snowkey:check", p.check},
		{create.Before("gorm:save_after_associations"), "snowkey:resolve", p.resolve},
		{create.Before("gorm:commit_or_rollback_transaction"), "snowkey:reset", p.reset},
		{update.Before("gorm:save_before_associations"), "snowkey:plan", p.checkUpdate},
	}
}

// register registers all of them, or none.
func (p *Plugin) register(db *gorm.DB) error {
	all := p.callbacks(db)
	for i, c := range all {
		if err := c.at.Register(c.name, c.fn); err != nil {
			for _, registered := range all[:i+1] {
				_ = registered.at.Remove(registered.name) // it fails like Register, until the last one is removed
			}
			return fmt.Errorf("gormplugin: %s: %w", c.name, err)
		}
	}
	return nil
}

// fill gives the rows their keys, before the hooks.
func (p *Plugin) fill(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil {
		return
	}
	plan := p.Keys().Plan(stmt.Schema, stmt.Table, db.Name())
	switch {
	case !stmt.ReflectValue.IsValid():
		if stmt.Schema == nil && plan.Fills() { // gorm would panic
			addError(db, gorm.ErrInvalidValue)
		}
	case len(plan.Columns) > 0 || plan.Err != nil:
		addError(db, newStatement(stmt, plan).fill())
	case plan.Relations: // to rows that may be filled
		newStatement(stmt, plan)
	}
}

// check looks at the rows when the hooks have run, and gorm has saved what they belong to.
func (p *Plugin) check(db *gorm.DB) {
	if db.Error != nil || !db.Statement.ReflectValue.IsValid() {
		return
	}
	plan := p.Keys().Plan(db.Statement.Schema, db.Statement.Table, db.Name())
	switch s := statementOf(db.Statement); {
	case plan.Database != nil:
		addError(db, p.checkDatabaseKey(db, plan))
	case s != nil:
		addError(db, s.check(p.Keys(), db))
	case plan.Fills():
		addError(db, errNotFilled)
	}
}

// resolve sets the keys that the rows of an upsert have in the database, before gorm saves the
// rows that refer to them.
func (p *Plugin) resolve(db *gorm.DB) {
	s := statementOf(db.Statement)
	if s == nil || db.Error != nil {
		return
	}
	s.sent = true
	if s.upsert != nil && !db.DryRun {
		addError(db, s.resolve(db))
	}
}

// reset takes back the keys of rows that were not written. It does not run after COMMIT, whose
// error may mean that they were.
func (p *Plugin) reset(db *gorm.DB) {
	if s := statementOf(db.Statement); s != nil && db.Error != nil {
		_, inTransaction := db.Statement.ConnPool.(gorm.TxCommitter)
		s.reset(inTransaction)
	}
	db.Statement.Settings.Delete(statementKey{}) // a later create is none of its associations
}

// checkUpdate refuses to update a model whose foreign keys would lose the keys of its associations,
// or whose tags are wrong.
func (p *Plugin) checkUpdate(db *gorm.DB) {
	if db.Error == nil && db.Statement.Schema != nil {
		addError(db, p.Keys().Plan(db.Statement.Schema, db.Statement.Table, db.Name()).Err)
	}
}

func addError(db *gorm.DB, err error) {
	if err != nil {
		_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", db.Statement.Table, err))
	}
}
