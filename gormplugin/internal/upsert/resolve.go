package upsert

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// resolve finds the suspects that collided with an existing row, and sets their columns to what
// that row has.
func (u *upsert) resolve(suspects []int) error {
	if len(suspects) == 0 {
		return nil
	}
	known := without(suspects, func(i int) bool { return u.shared && !u.lacks(i, missingFirst) })
	inserted, err := u.find(known, u.identity)
	if err != nil {
		return err
	}
	if len(u.columns) > 0 {
		if err := u.set(inserted); err != nil {
			return err
		}
	}
	suspects = without(suspects, func(i int) bool { return inserted[i] != nil })
	if u.keys[0].Source == nil { // a key that the caller has set may exist too
		if suspects, err = u.findByKey(suspects); err != nil {
			return err
		}
	}
	isKept := func(i int) bool { return !u.replaces && !u.lacks(i, missingKey) }
	kept := without(suspects, func(i int) bool { return !isKept(i) })
	if suspects, err = u.findBy(without(suspects, isKept), u.indexes); err != nil {
		return err
	}
	if u.catalog && slices.ContainsFunc(suspects, u.lacksKey) {
		found, err := u.tableIndexes()
		if err != nil {
			return err
		}
		u.indexes = append(slices.Clip(u.indexes), found...)
		if suspects, err = u.findBy(suspects, found); err != nil {
			return err
		}
	}
	for _, i := range append(suspects, kept...) {
		if err := u.reset(i); err != nil {
			return err
		}
	}
	return nil
}

func (u *upsert) lacksKey(i int) bool { return u.lacks(i, missingKey) }

// without returns the indexes that are not left out.
func without(indexes []int, leftOut func(int) bool) []int {
	return slices.DeleteFunc(slices.Clone(indexes), leftOut)
}

// findByKey looks up the rows whose key the caller has set, by that key. It returns the indexes
// of the others.
func (u *upsert) findByKey(suspects []int) ([]int, error) {
	rest, err := u.findBy(without(suspects, u.lacksKey), []keys.Unique{{Fields: u.db.Statement.Schema.PrimaryFields}})
	if err != nil {
		return nil, err
	}
	return append(without(suspects, func(i int) bool { return !u.lacksKey(i) }), rest...), nil
}

// findBy sets the columns of the rows that collided in one of the indexes. It returns the
// others.
func (u *upsert) findBy(suspects []int, indexes []keys.Unique) ([]int, error) {
	for _, index := range indexes {
		if len(suspects) == 0 {
			break
		}
		found, err := u.find(suspects, index)
		if err != nil {
			return nil, err
		}
		if err := u.set(found); err != nil {
			return nil, err
		}
		suspects = without(suspects, func(i int) bool { return found[i] != nil })
	}
	return suspects, nil
}

// tableIndexes asks the database for unique indexes that are not known yet.
func (u *upsert) tableIndexes() (sets []keys.Unique, err error) {
	indexes, err := dialect.UniqueIndexes(u.db)
	if err != nil {
		return nil, fmt.Errorf("which unique indexes it has: %w", err)
	}
	for _, index := range indexes {
		set, ok := keys.NewUnique(u.db.Statement.Schema, index.Columns, index.Where)
		if ok && (len(set.Where) > 0 || !slices.ContainsFunc(u.indexes, func(k keys.Unique) bool { return len(k.Where) == 0 && slices.Equal(k.Fields, set.Fields) })) {
			sets = append(sets, set)
		}
	}
	slices.SortStableFunc(sets, func(a, b keys.Unique) int { return len(a.Where) - len(b.Where) })
	return sets, nil
}

// set writes the values that were found into each row.
func (u *upsert) set(found map[int][]any) error {
	ctx, all := u.db.Statement.Context, u.all()
	for i, values := range found {
		for k, c := range all {
			field := c.Field.ReflectValueOf(ctx, u.rows[i])
			if u.insert != nil {
				u.insert.Replacing(field)
				u.insert.KeysChanged()
			}
			field.SetZero() // gorm would write through a pointer, which another row or the caller may share
			if values[k] == nil {
				continue
			}
			if err := c.Field.Set(ctx, u.rows[i], values[k]); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// reset sets the filled fields of a row back to zero. The row was not written: it collided in an
// index that is not known, such as one on an expression. If other rows are to refer to its key,
// that is an error.
func (u *upsert) reset(i int) error {
	stmt := u.db.Statement
	var back []keys.Column
	if u.lacks(i, missingColumn) {
		back = u.columns
	}
	if u.lacksKey(i) {
		if u.isParent(i) {
			return fmt.Errorf("%s row %d was not written, and the row that it collided with is not found by %s: others would refer to a key that is not there",
				stmt.Schema.Name, i, u.indexNames())
		}
		back = slices.Concat(back, u.keys)
	}
	for _, c := range back {
		field := c.Field.ReflectValueOf(stmt.Context, u.rows[i])
		if u.insert != nil {
			u.insert.Replacing(field)
		}
		field.SetZero()
	}
	return nil
}

// isParent reports whether other rows are about to refer to the row.
func (u *upsert) isParent(i int) bool {
	if u.insert != nil {
		return u.insert.IsParent(i)
	}
	r := &u.db.Statement.Schema.Relationships
	return slices.ContainsFunc(slices.Concat(r.HasOne, r.HasMany, r.Many2Many), func(rel *schema.Relationship) bool {
		v := rows.Field(u.rows[i], rel.Field.StructField.Index)
		return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
	})
}

func (u *upsert) indexNames() string {
	if len(u.indexes) == 0 {
		return "any unique index of columns (there is none)"
	}
	var names [][]string
	for _, set := range u.indexes {
		var columns []string
		for _, f := range set.Fields {
			columns = append(columns, f.DBName)
		}
		names = append(names, columns)
	}
	return fmt.Sprint(names)
}
