// Package hooks has models that set their keys in hooks of GORM.
package hooks

import (
	"errors"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
)

type Camera struct {
	ID   sqltype.ID `gorm:"primaryKey;snowflake:-"`
	Name string
}

// BeforeCreate sets the key.
func (c *Camera) BeforeCreate(tx *gorm.DB) error {
	if !c.ID.IsZero() {
		return nil
	}
	gen, err := core.New(core.Config{Worker: core.Fixed(4)}) // FAULT 060 snowscope: a generator for each row that is inserted; bwmarrin/snowflake#9
	if err != nil {
		return err
	}
	defer gen.Close()
	c.ID, err = sqltype.NextID(tx.Statement.Context, gen)
	return err
}

// ids is set once, by Use.
var ids *worker.Generator

// Use gives the hooks their generator. It remains the caller's.
func Use(gen *worker.Generator) { ids = gen }

type Recording struct {
	ID       sqltype.ID `gorm:"primaryKey;snowflake:-"`
	CameraID sqltype.ID
}

// BeforeCreate sets the key.
func (r *Recording) BeforeCreate(tx *gorm.DB) (err error) {
	if ids == nil {
		return errors.New("hooks: call Use first")
	}
	if r.ID.IsZero() {
		r.ID, err = sqltype.NextID(tx.Statement.Context, ids) // OK 49: one generator for all rows
	}
	return err
}
