package gormplugin

import (
	"context"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"
)

// What graphs and upserts need of the plan of a model: which fields are filled,
// whether a row lacks a value there, and how it is given one.

// keysIn are the fields of a model that are filled, and the parts of its key that are not (their
// source is nil). table is the statement's, which db.Table may have named.
func (p *Plugin) keysIn(s *schema.Schema, table string) ([]target, error) {
	pl := p.plan(s, table)
	if pl.err != nil {
		return nil, fmt.Errorf("gormplugin: %w", pl.err)
	}
	return pl.targets, nil
}

// lacks reports whether the row has no value yet, and is an error if it cannot be given one.
func (t *target) lacks(row reflect.Value) (bool, error) { return t.isZero(row) }

// give sets the value and remembers what was there before.
func (t *target) give(ctx context.Context, row reflect.Value, id int64, log *undoLog) {
	set := func() error {
		log.saveKey(t.field.ReflectValueOf(ctx, row))
		t.set(ctx, row, id)
		return nil
	}
	if behindPointer(t.field.StructField.Index) {
		_ = log.making(row, t.field.StructField.Index, set)
	} else {
		_ = set()
	}
}
