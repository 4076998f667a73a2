package gormplugin

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/sqlite"
)

// callback is a callback that the plugin registers with gorm.
type callback struct {
	at interface {
		Register(name string, fn func(*gorm.DB)) error
		Remove(name string) error
	}
	name string
	fn   func(*gorm.DB) error // its error fails the create
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
		{update.Before("gorm:commit_or_rollback_transaction"), "snowkey:reset", p.reset},
	}
	if db.Name() == "sqlite" {
		all = append(all, callback{db.Callback().Raw().Before("gorm:raw"), "snowkey:rebuild", sqlite.RefuseRebuild})
	}
	return all
}

// register registers all callbacks, or none.
func (p *Plugin) register(db *gorm.DB) error {
	all := p.callbacks(db)
	for i, c := range all {
		if err := c.at.Register(c.name, func(db *gorm.DB) {
			if db.Error != nil && c.name != "snowkey:reset" { // the create has failed already
				return
			}
			if err := c.fn(db); err != nil {
				_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", db.Statement.Table, err))
			}
		}); err != nil {
			for _, registered := range all[:i+1] {
				_ = registered.at.Remove(registered.name) // it fails too, until the one at fault is removed
			}
			return fmt.Errorf("gormplugin: %s: %w", c.name, err)
		}
	}
	return nil
}

// fill sets zero keys, before the hooks run. It calls each source once, before it changes a row: if one
// fails, no row has a key.
func (p *Plugin) fill(db *gorm.DB) error {
	stmt := db.Statement
	plan := p.registry.Plan(db, stmt.Schema, stmt.Table)
	fills := len(plan.Columns) > 0 || plan.Err != nil
	switch {
	case !stmt.ReflectValue.IsValid():
		if stmt.Schema == nil && fills { // gorm would panic
			return gorm.ErrInvalidValue
		}
		return nil
	case !fills && !plan.Relations:
		return nil
	}
	s := &statement{stmt: stmt, plan: plan, rows: rows.List(stmt.ReflectValue)}
	if v, ok := stmt.Settings.Load(statementKey{}); ok {
		outer := v.(*statement)
		outer.associations, s.associated = append(outer.associations, s), true
	}
	stmt.Settings.Store(statementKey{}, s)
	if !fills { // but the plugin may fill related rows
		return nil
	}
	if p.leased.Load() != nil {
		if err := p.registry.CheckHome(db); err != nil {
			return err
		}
	}
	if err := plan.Err; err != nil {
		return err
	}
	if err := rows.Check(stmt, s.rows); err != nil {
		return err
	}
	if _, upserts := stmt.Clauses["ON CONFLICT"]; upserts { // rows share an association: write it once, as gorm does if its key is set
		if distinct, repeats := rows.Distinct(stmt.ReflectValue); repeats {
			stmt.Dest, stmt.ReflectValue, s.rows = distinct.Interface(), distinct, rows.List(distinct)
		}
	}
	return s.fill()
}

// check refuses zero keys after the hooks have run and gorm has saved the rows' parents, and prepares an
// upsert.
func (p *Plugin) check(db *gorm.DB) error {
	stmt := db.Statement
	if !stmt.ReflectValue.IsValid() {
		return nil
	}
	plan, s := p.registry.Plan(db, stmt.Schema, stmt.Table), statementOf(stmt)
	on, conflict := conflictOf(stmt)
	if plan.DatabaseKey != nil {
		if err := p.checkDatabaseKey(db, plan, conflict); err != nil {
			return err
		}
	}
	if s == nil {
		if plan.Fills() {
			return errNotFilled
		}
		return nil
	}
	s.hooks = stmt.Schema != nil && !stmt.SkipHooks && (stmt.Schema.BeforeSave || stmt.Schema.BeforeCreate)
	for _, c := range s.columns {
		if c.Source == nil || s.hooks {
			if zero, err := c.Zero(s.rows); err != nil || len(zero) > 0 {
				return cmp.Or(err, c.ErrNotSet())
			}
		}
	}
	s.conflict = conflict
	if stmt.Schema == nil {
		return nil
	}
	if on.UpdateAll {
		s.keepNumbers()
	}
	if _, returning := stmt.Clauses["RETURNING"]; returning {
		returnInPlace(stmt)
	}
	if conflict && plan.Fills() && rows.AreStructs(s.rows) {
		return s.prepareUpsert(p.registry, db, on)
	}
	return nil
}

// checkDatabaseKey refuses rows whose key the database makes if the plugin is strict and they have
// no conflict clause. Else it logs one line for each model.
func (p *Plugin) checkDatabaseKey(db *gorm.DB, plan *keys.Plan, conflict bool) error {
	stmt, refuse := db.Statement, p.cfg.Strict && !conflict
	if !refuse && (plan.Noticed.Load() || !plan.DatabaseKey.Field.HasDefaultValue) || p.registry.Exempts(stmt.Schema, stmt.Table) {
		return nil
	}
	list := rows.List(stmt.ReflectValue)
	if rows.Check(stmt, list) != nil {
		return nil //nolint:nilerr // such rows are gorm's to accept or refuse
	}
	if zero, err := plan.DatabaseKey.Zero(list); err != nil || len(zero) == 0 {
		return err
	}
	err := keys.ErrDatabaseKey(plan.DatabaseKey.Field, stmt.Table)
	if refuse {
		return err
	}
	if plan.Noticed.CompareAndSwap(false, true) {
		db.Logger.Warn(stmt.Context, "snowkey: table %s: %s", stmt.Table, err)
	}
	return nil
}

// resolve sets the rows of an upsert to their keys in the database, before gorm saves their
// children.
func (p *Plugin) resolve(db *gorm.DB) error {
	s := statementOf(db.Statement)
	if s == nil {
		return nil
	}
	s.sent = !db.DryRun
	if _, conflict := conflictOf(db.Statement); conflict && !s.conflict && s.plan.Fills() {
		return errors.New("a callback adds a conflict clause after snowkey:check: register it before that one")
	}
	switch {
	case s.upsert != nil && s.sent:
		if err := s.resolve(db); err != nil {
			return err
		}
		s.upsert = nil
	case len(s.rows) > 0 && s.rows[0].Kind() == reflect.Map:
		s.setIDs() // gorm sets the keys of maps to numbers that the database did not make
	}
	return nil
}

// reset sets the keys of rows that were not written to zero. It does not run after COMMIT: if that
// fails, the rows may be written.
func (p *Plugin) reset(db *gorm.DB) (err error) {
	if s := statementOf(db.Statement); s != nil && (db.Error != nil || db.DryRun || s.upsert != nil) {
		err = s.undo(db)
	}
	db.Statement.Settings.Delete(statementKey{}) // else a later create would count as its association
	return err
}

// checkUpdate refuses to update a model whose tags are wrong, or whose foreign keys cannot hold the
// keys of its associations. The creates of its associations belong to the update.
func (p *Plugin) checkUpdate(db *gorm.DB) error {
	if db.Statement.Schema == nil {
		return nil
	}
	plan := p.registry.Plan(db, db.Statement.Schema, "")
	if plan.Relations && plan.Err == nil {
		db.Statement.Settings.Store(statementKey{}, &statement{stmt: db.Statement, plan: plan})
	}
	return plan.Err
}
