package gormplugin

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// reread finds the suspects that collided with an existing row, and sets their followed
// columns to the values of that row.
func (u *upsert) reread(db *gorm.DB, c *chain, rows []reflect.Value, suspects []int) error {
	if len(suspects) == 0 {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(suspects), func(i int) bool { return u.shared && !u.lacked(i, lacksNumber) })
	there, err := u.find(db, rows, known, u.id)
	if err != nil {
		return err
	}
	if len(u.columns) > 0 {
		if err := u.set(db, c, rows, there); err != nil {
			return err
		}
	}
	suspects = slices.DeleteFunc(suspects, func(i int) bool { return there[i] != nil })
	if u.keys[0].source == nil { // a key that the caller has set may exist too
		if suspects, err = u.findSet(db, c, rows, suspects); err != nil {
			return err
		}
	}
	mine := func(i int) bool { return !u.all && !u.lacked(i, lacksKey) }
	kept := slices.DeleteFunc(slices.Clone(suspects), func(i int) bool { return !mine(i) })
	if suspects, err = u.findBy(db, c, rows, slices.DeleteFunc(suspects, mine), u.sets); err != nil {
		return err
	}
	lost := func(i int) bool { return u.lacked(i, lacksKey) }
	if u.untold && slices.ContainsFunc(suspects, lost) {
		untold, err := tableUniques(db, u.sets)
		if err != nil {
			return err
		}
		u.sets = append(slices.Clip(u.sets), untold...)
		if suspects, err = u.findBy(db, c, rows, suspects, untold); err != nil {
			return err
		}
	}
	for _, i := range append(suspects, kept...) {
		if err := u.unwritten(db, c, i, rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// findSet looks up the rows whose key the caller has set, by that key.
func (u *upsert) findSet(db *gorm.DB, c *chain, rows []reflect.Value, suspects []int) ([]int, error) {
	lost := func(i int) bool { return u.lacked(i, lacksKey) }
	set := slices.DeleteFunc(slices.Clone(suspects), lost)
	left, err := u.findBy(db, c, rows, set, []unique{{fields: db.Statement.Schema.PrimaryFields}})
	if err != nil {
		return nil, err
	}
	return append(slices.DeleteFunc(suspects, func(i int) bool { return !lost(i) }), left...), nil
}

// findBy sets the followed columns of the rows that collided by one of the sets, and returns
// the indexes of the others.
func (u *upsert) findBy(db *gorm.DB, c *chain, rows []reflect.Value, suspects []int, sets []unique) ([]int, error) {
	for _, set := range sets {
		if len(suspects) == 0 {
			break
		}
		found, err := u.find(db, rows, suspects, set)
		if err != nil {
			return nil, err
		}
		if err := u.set(db, c, rows, found); err != nil {
			return nil, err
		}
		suspects = slices.DeleteFunc(suspects, func(i int) bool { return found[i] != nil })
	}
	return suspects, nil
}

// set writes the values that were found into each row.
func (u *upsert) set(db *gorm.DB, c *chain, rows []reflect.Value, found map[int][]any) error {
	follow := u.follow()
	for i, values := range found {
		for k, t := range follow {
			field := t.field.ReflectValueOf(db.Statement.Context, rows[i])
			if c != nil {
				c.w.undo.saveMoved(field)
				c.w.moved = true
			}
			field.SetZero() // gorm would write through a pointer, which another row or the caller may share
			if values[k] == nil {
				continue
			}
			if err := t.field.Set(db.Statement.Context, rows[i], values[k]); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	return nil
}

// unwritten sets the filled fields of a row back to zero. The row was not written: it collided
// by an index that is not known, such as one on an expression. If other rows are to refer to
// its key, that is an error.
func (u *upsert) unwritten(db *gorm.DB, c *chain, i int, row reflect.Value) error {
	stmt := db.Statement
	var back []target
	if u.lacked(i, lacksColumn) {
		back = u.columns
	}
	if u.lacked(i, lacksKey) {
		if u.isNeeded(stmt, c, i, row) {
			return fmt.Errorf("%s row %d was not written, and the row that it collided with is not found by %s: others would refer to a key that is not there",
				stmt.Schema.Name, i, u.indexes())
		}
		back = slices.Concat(back, u.keys)
	}
	for _, t := range back {
		field := t.field.ReflectValueOf(stmt.Context, row)
		if c != nil {
			c.w.undo.saveMoved(field)
		}
		field.SetZero()
	}
	return nil
}

// isNeeded reports whether other rows are about to refer to the row.
func (u *upsert) isNeeded(stmt *gorm.Statement, c *chain, i int, row reflect.Value) bool {
	if c != nil {
		return c.w.isParent(c.rows[i])
	}
	r := &stmt.Schema.Relationships
	return slices.ContainsFunc(slices.Concat(r.HasOne, r.HasMany, r.Many2Many), func(rel *schema.Relationship) bool {
		v := fieldAt(row, rel.Field.StructField.Index)
		return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
	})
}

func (u *upsert) indexes() string {
	if len(u.sets) == 0 {
		return "any unique index of columns (there is none)"
	}
	var names [][]string
	for _, set := range u.sets {
		var columns []string
		for _, f := range set.fields {
			columns = append(columns, f.DBName)
		}
		names = append(names, columns)
	}
	return fmt.Sprint(names)
}
