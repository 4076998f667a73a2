package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
)

// fill is the create callback: it sets every zero key of the statement's rows.
func (p *Plugin) fill(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil || !stmt.ReflectValue.IsValid() {
		return
	}
	targets := p.targetsOf(db)
	for i := range targets {
		t := &targets[i]
		if keep, err := keepInStatement(stmt, *t); err != nil || !keep {
			_ = db.AddError(err) // nil adds nothing
			continue
		}
		if err := t.fill(stmt.Context, stmt.ReflectValue); err != nil {
			_ = db.AddError(err)
			return
		}
	}
}

func (p *Plugin) targetsOf(db *gorm.DB) []target {
	stmt := db.Statement
	if stmt.Schema != nil {
		pl := p.plan(stmt.Schema)
		_ = db.AddError(pl.err)
		if pl.err != nil {
			return nil
		}
		return pl.targets
	}
	if t, ok := p.tables[stmt.Table]; ok {
		return []target{t}
	}
	return nil
}

// fill sets the target in all rows from one reservation.
func (t *target) fill(ctx context.Context, rows reflect.Value) error {
	missing, err := t.count(ctx, rows)
	if err != nil || missing == 0 {
		return err
	}
	if t.source == nil {
		return fmt.Errorf("gormplugin: %s is the key of another row, and is not set", t.name)
	}
	ids := make([]int64, missing)
	if missing == 1 {
		ids[0], err = t.source.Next(ctx)
	} else {
		err = t.source.Fill(ctx, ids)
	}
	if err != nil {
		return fmt.Errorf("gormplugin: %s: %w", t.name, err)
	}
	for _, id := range ids {
		if id <= 0 {
			return fmt.Errorf("gormplugin: %s: the source gave %d, which is no key", t.name, id)
		}
	}
	return each(rows, func(row reflect.Value) error {
		zero, err := t.isZero(ctx, row)
		if err == nil && zero {
			t.set(ctx, row, ids[0])
			ids = ids[1:]
		}
		return err
	})
}

// count is how many rows are without a key, each of which can be given one.
func (t *target) count(ctx context.Context, rows reflect.Value) (n int, err error) {
	err = each(rows, func(row reflect.Value) error {
		zero, err := t.isZero(ctx, row)
		if zero {
			n++
		}
		return err
	})
	return n, err
}

// each visits the rows. Nil pointers are left to gorm, which has an error for
// them; of a nil map it would make a row without a key.
func each(rows reflect.Value, visit func(row reflect.Value) error) error {
	for rows.Kind() == reflect.Pointer || rows.Kind() == reflect.Interface {
		rows = rows.Elem()
	}
	switch rows.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range rows.Len() {
			if err := each(rows.Index(i), visit); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return visit(rows)
	case reflect.Map:
		if rows.IsNil() {
			return errors.New("gormplugin: a nil map cannot be given a key")
		}
		return visit(rows)
	}
	return nil
}

// isZero reports whether the row is without a key. It is an error if the row
// then cannot be given one.
func (t *target) isZero(ctx context.Context, row reflect.Value) (bool, error) {
	if row.Kind() == reflect.Map {
		m, ok := row.Interface().(map[string]any)
		if !ok {
			return false, nil // gorm refuses it
		}
		return t.mapIsZero(m), nil
	}
	if t.field == nil {
		return false, nil // a struct has a schema; gorm refuses this one
	}
	if !row.CanAddr() {
		if _, zero := t.field.ValueOf(ctx, row); zero {
			return false, fmt.Errorf("gormplugin: %s cannot be set in a value of type %v: create a pointer to it", t.name, row.Type())
		}
		return false, nil
	}
	if t.field.FieldType.Kind() != reflect.Pointer && len(t.field.StructField.Index) == 1 {
		return t.field.ReflectValueOf(ctx, row).IsZero(), nil // without boxing the value
	}
	value, zero := t.field.ValueOf(ctx, row)
	if v := reflect.ValueOf(value); !zero && v.Kind() == reflect.Pointer {
		zero = v.IsNil() || v.Elem().IsZero()
	}
	return zero, nil
}

func (t *target) set(ctx context.Context, row reflect.Value, id int64) {
	if row.Kind() == reflect.Map {
		t.mapSet(row.Interface().(map[string]any), id)
		return
	}
	v := t.field.ReflectValueOf(ctx, row) // makes a nil embedded pointer
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	if v.CanInt() {
		v.SetInt(id)
	} else {
		v.SetUint(uint64(id))
	}
}

// mapIsZero reports whether no key of the map that means the column holds a value.
func (t *target) mapIsZero(m map[string]any) bool {
	for key, value := range m {
		if !t.means(key) {
			continue
		}
		v := reflect.ValueOf(value)
		for v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.IsValid() && !v.IsZero() {
			return false
		}
	}
	return true
}

// mapSet writes the column once: "ID" and "id" in one map would make gorm emit
// it twice.
func (t *target) mapSet(m map[string]any, id int64) {
	for key := range m {
		if t.means(key) {
			delete(m, key)
		}
	}
	var value any = id
	if t.field != nil {
		v := reflect.New(t.field.IndirectFieldType).Elem()
		if v.CanInt() {
			v.SetInt(id)
		} else {
			v.SetUint(uint64(id))
		}
		value = v.Interface()
	}
	m[t.column] = value
}

// means reports whether a map's key stands for the column.
func (t *target) means(key string) bool {
	if t.field == nil {
		return key == t.column
	}
	return t.field.Schema.LookUpField(key) == t.field
}
