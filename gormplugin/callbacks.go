package gormplugin

import (
	"errors"
	"fmt"

	"gorm.io/gorm"
)

// callback is a callback that the plugin registers with gorm.
type callback struct {
	at interface {
		Register(name string, fn func(*gorm.DB)) error
		Remove(name string) error
	}
	name string
	fn   func(*gorm.DB)
}

// callbacks returns the plugin's callbacks. snowkey:fill runs directly before gorm:before_create,
// because the model's hooks must see the key. With SkipDefaultTransaction, a callback before
// gorm:begin_transaction would run last.
func (p *Plugin) callbacks(db *gorm.DB) []callback {
	create, update := db.Callback().Create(), db.Callback().Update()
	all := []callback{
		{create.Before("gorm:before_create"), "snowkey:fill", p.fill},
		{create.Before("gorm:create"), "snowkey:check", p.check},
		{create.Before("gorm:save_after_associations"), "snowkey:resolve", p.resolve},
		{create.Before("gorm:commit_or_rollback_transaction"), "snowkey:reset", p.reset},
		{update.Before("gorm:save_before_associations"), "snowkey:plan", p.checkUpdate},
	}
	if db.Name() == "sqlite" {
		all = append(all, callback{db.Callback().Raw().Before("gorm:raw"), "snowkey:rebuild", refuseRebuild})
	}
	return all
}

// register registers all callbacks, or none.
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

// fill sets zero keys, before the hooks run.
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
	case plan.Relations: // the plugin may fill related rows
		newStatement(stmt, plan)
	}
}

// check refuses zero keys after the hooks have run and gorm has saved the rows' parents.
func (p *Plugin) check(db *gorm.DB) {
	if db.Error != nil || !db.Statement.ReflectValue.IsValid() {
		return
	}
	plan, s := p.Keys().Plan(db.Statement.Schema, db.Statement.Table, db.Name()), statementOf(db.Statement)
	if plan.Database != nil {
		addError(db, p.checkDatabaseKey(db, plan))
	}
	if s != nil {
		addError(db, s.check(p.Keys(), db))
	} else if plan.Fills() {
		addError(db, errNotFilled)
	}
}

// resolve sets the rows of an upsert to their keys in the database, before gorm saves their
// children.
func (p *Plugin) resolve(db *gorm.DB) {
	s := statementOf(db.Statement)
	if s == nil || db.Error != nil {
		return
	}
	s.sent = true
	if _, conflict := conflictOf(db.Statement); conflict && !s.conflict && s.plan.Fills() {
		addError(db, errors.New("a conflict clause was added after snowkey:check, which must see it: add it earlier"))
	}
	if s.upsert != nil && !db.DryRun {
		addError(db, s.resolve(db))
	}
}

// reset sets the keys of rows that were not written to zero. It does not run after COMMIT: if that
// fails, the rows may be written.
func (p *Plugin) reset(db *gorm.DB) {
	s := statementOf(db.Statement)
	if s != nil && s.upsert != nil && !s.sent && db.Error == nil {
		addError(db, errors.New("snowkey:resolve did not run after the INSERT: do not remove gorm:save_after_associations"))
	}
	if s != nil && db.Error != nil {
		_, began := db.InstanceGet("gorm:started_transaction")
		s.reset(began)
	}
	db.Statement.Settings.Delete(statementKey{}) // else a later create would count as its association
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
