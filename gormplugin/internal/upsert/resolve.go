package upsert

import (
	"fmt"
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
	inserted, err := u.find(without(suspects, func(i int) bool { return u.shared && !u.lacks(i, missingFirst) }), u.identity)
	if err != nil {
		return err
	}
	if len(u.columns) > 0 {
		if err := u.set(inserted); err != nil {
			return err
		}
	}
	suspects = without(suspects, func(i int) bool { return inserted[i] != nil })
	withKey, suspects := split(suspects, func(i int) bool { return !u.lacksKey(i) })
	if u.keys[0].Source == nil { // a key that the caller has set may exist too
		if withKey, err = u.findBy(withKey, []keys.Unique{{Fields: u.db.Statement.Schema.PrimaryFields}}); err != nil {
			return err
		}
	}
	if u.replaces {
		suspects, withKey = append(suspects, withKey...), nil
	}
	if suspects, err = u.findBy(suspects, u.indexes); err != nil {
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
	for _, i := range append(suspects, withKey...) {
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

// split returns the indexes that meet the condition, and the others.
func split(indexes []int, meets func(int) bool) (these, others []int) {
	for _, i := range indexes {
		if meets(i) {
			these = append(these, i)
		} else {
			others = append(others, i)
		}
	}
	return these, others
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
		return nil, fmt.Errorf("look up its unique indexes: %w", err)
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
			u.clear(i, c)
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
		u.clear(i, c)
	}
	return nil
}

// clear sets a column of a row to zero. gorm would write through a pointer, which another row or
// the caller may share.
func (u *upsert) clear(i int, c keys.Column) {
	field := c.Field.ReflectValueOf(u.db.Statement.Context, u.rows[i])
	if u.insert != nil {
		u.insert.Replacing(field)
	}
	field.SetZero()
}

// isParent reports whether other rows are about to refer to the row.
func (u *upsert) isParent(i int) bool {
	if u.insert != nil {
		return u.insert.IsParent(i)
	}
	r := &u.db.Statement.Schema.Relationships
	return slices.ContainsFunc(slices.Concat(r.HasOne, r.HasMany, r.Many2Many), func(rel *schema.Relationship) bool {
		return rows.Holds(u.rows[i], rel)
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
