package gormplugin

import (
	"fmt"

	"gorm.io/gorm"
)

// operation is one for which gorm has callbacks.
type operation uint8

const (
	creates operation = iota
	updates
	raws // Exec
)

// A callback is one that the plugin registers with gorm, before another.
type callback struct {
	on           operation
	before, name string
	fn           func(*gorm.DB)
}

// callbacks are all of them, in the order of registration. "snowkey:fill" is directly before
// gorm:before_create, because the model's hooks must see the key. With
// SkipDefaultTransaction, a callback that is to run even earlier would run last.
func (p *Plugin) callbacks() []callback {
	return []callback{
		{creates, "gorm:before_create", "snowkey:note", p.noteFresh},
		{creates, "gorm:save_before_associations", "snowkey:graph", atGraph},
		{creates, "gorm:create", "snowkey:owned", p.checkOwned},
		{creates, "gorm:create", "snowkey:upsert", p.beforeUpsert},
		{creates, "gorm:save_after_associations", "snowkey:reread", p.afterUpsert},
		{creates, "gorm:after_create", "snowkey:rest", atRest},
		{creates, "gorm:before_create", "snowkey:fill", p.fill},
		{updates, "gorm:save_before_associations", "snowkey:texts", p.beforeUpdate},
		{updates, "gorm:update", "snowkey:links", p.checkUpdate},
		{raws, "gorm:raw", "snowkey:rebuild", keepWithoutRowid},
	}
}

// register registers all of them, or none.
func (p *Plugin) register(db *gorm.DB) error {
	for i, c := range p.callbacks() {
		if err := c.register(db); err != nil {
			for _, registered := range p.callbacks()[:i+1] {
				_ = registered.remove(db) // its error is the same, until the last one is gone
			}
			return fmt.Errorf("gormplugin: %s: %w", c.name, err)
		}
	}
	return nil
}

func (c callback) register(db *gorm.DB) error {
	switch c.on {
	case updates:
		return db.Callback().Update().Before(c.before).Register(c.name, c.fn)
	case raws:
		return db.Callback().Raw().Before(c.before).Register(c.name, c.fn)
	default:
		return db.Callback().Create().Before(c.before).Register(c.name, c.fn)
	}
}

func (c callback) remove(db *gorm.DB) error {
	switch c.on {
	case updates:
		return db.Callback().Update().Remove(c.name)
	case raws:
		return db.Callback().Raw().Remove(c.name)
	default:
		return db.Callback().Create().Remove(c.name)
	}
}
