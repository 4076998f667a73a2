package gormplugin

import (
	"fmt"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/insert"
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

// callbacks are those of the plugin. A plain create runs three of them. "snowkey:fill" is
// directly before gorm:before_create, because the model's hooks must see the key. With
// SkipDefaultTransaction, a callback that is to run even earlier would run last.
func (p *Plugin) callbacks(db *gorm.DB) []callback {
	create, update := db.Callback().Create(), db.Callback().Update()
	return []callback{
		{create.Before("gorm:before_create"), "snowkey:fill", p.fill},
		{create.Before("gorm:create"), "snowkey:check", p.beforeInsert},
		{create.Before("gorm:save_after_associations"), "snowkey:upsert", p.afterInsert},
		{update.Before("gorm:save_before_associations"), "snowkey:update", p.beforeUpdate},
		{update.Before("gorm:update"), "snowkey:links", p.checkUpdate},
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

// fill sets every zero key of the rows of a create.
func (p *Plugin) fill(db *gorm.DB) {
	p.upserts.Note(db)
	if graph := insert.Of(db.Statement); graph != nil {
		graph.Begin(db)
	}
	if db.Error == nil && db.Statement.ReflectValue.IsValid() {
		addError(db, p.fillStatement(db.Statement))
	}
}

// beforeInsert runs when the hooks have run and gorm has saved what the rows belong to.
func (p *Plugin) beforeInsert(db *gorm.DB) {
	if graph := insert.Of(db.Statement); graph != nil {
		graph.Before(db)
	}
	if isOfModel(db) {
		addError(db, p.checkInsert(db.Statement))
	}
	p.upserts.Before(db)
}

// afterInsert runs before gorm saves the rows that refer to those of the create.
func (p *Plugin) afterInsert(db *gorm.DB) {
	p.upserts.After(db)
	if graph := insert.Of(db.Statement); graph != nil {
		graph.After(db)
	}
}

// isOfModel reports whether the statement has not failed and has rows of a model.
func isOfModel(db *gorm.DB) bool {
	return db.Error == nil && db.Statement.Schema != nil && db.Statement.ReflectValue.IsValid()
}

func addError(db *gorm.DB, err error) {
	if err != nil {
		_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", db.Statement.Table, err))
	}
}
