// Package upsert sets the structs of an upsert to the keys that their rows have in the database.
// The plugin gives each row a key, but ON CONFLICT may leave an existing row in its place.
package upsert

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/insert"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Upserts has what the callbacks of a create do for an upsert, in this order: Note, Filled,
// Before and After.
type Upserts struct{ Keys *keys.Registry }

// upsert is a create with ON CONFLICT whose rows may have other keys than they were given.
type upsert struct {
	keys    []keys.Column // the parts of the key that are filled, or the whole key where the database makes it
	columns []keys.Column // the columns beside it that are filled
	missing []missing     // by the row

	identity keys.Unique   // a row with the same values is the one that was given
	shared   bool          // several rows may have the same identity, if the caller set it
	indexes  []keys.Unique // in which a row may have collided
	catalog  bool          // and in those that only the database knows
	replaces bool          // a key that the caller set is replaced as well

	lookUp     bool // RETURNING cannot report the keys: query them
	exactCount bool // the count of rows shows whether all were inserted

	db     *gorm.DB // in After
	insert insert.Insert
	rows   []reflect.Value
}

// Before makes the statement return the keys, or prepares to look them up if RETURNING would not
// report the right ones.
func (p Upserts) Before(db *gorm.DB) {
	stmt := db.Statement
	on, ignore, conflict := conflictOf(stmt)
	if !conflict || db.Error != nil || stmt.Schema == nil {
		return
	}
	list := rows.Structs(stmt)
	if len(list) == 0 {
		return
	}
	u, err := p.plan(db, on)
	if err != nil {
		_ = db.AddError(err)
		return
	}
	if u == nil {
		return
	}
	u.insert = insert.Of(stmt)
	u.missing = u.missingOf(stmt, list)
	update := !on.DoNothing && (len(on.DoUpdates) > 0 || on.UpdateAll)
	hasKey := func(m missing) bool { return m&missingKey == 0 }
	if on.DoNothing && !ignore && db.Name() == "mysql" && len(u.missing) > 0 && !slices.ContainsFunc(u.missing, hasKey) {
		update = true // MariaDB updates each key to itself, and returns every row
	}
	if update && len(on.Where.Exprs) == 0 && dialect.Returns(db) {
		u.addReturning(stmt)
		if u.insert != nil { // gorm will set them
			for _, row := range list {
				for _, c := range u.all() {
					u.insert.Replacing(c.Field.ReflectValueOf(stmt.Context, row))
				}
			}
		}
	} else {
		u.lookUp = true
		u.exactCount = !u.removeReturning(stmt) && u.exactCount
	}
	stateOf(stmt).upsert = u
}

// plan returns nil if no row can have another key.
func (p Upserts) plan(db *gorm.DB, on clause.OnConflict) (*upsert, error) {
	stmt := db.Statement
	u := &upsert{}
	if u.keys, u.columns = p.Keys.Upserted(stmt.Schema, stmt.Table); len(u.keys) == 0 {
		return nil, nil
	}
	if u.identity.Fields = stmt.Schema.PrimaryFields; u.keys[0].Source == nil {
		u.identity.Fields = []*schema.Field{u.columns[0].Field}
	}
	declared, err := p.Keys.Uniques(db, stmt.Schema)
	if err != nil {
		return nil, err
	}
	u.shared = u.keys[0].Source == nil && !slices.ContainsFunc(declared, func(set keys.Unique) bool {
		return len(set.Where) == 0 && slices.Equal(set.Fields, u.identity.Fields)
	})
	named := namedFields(stmt.Schema, on.Columns)
	anyIndex := db.Name() == "mysql" // ON DUPLICATE KEY names no columns
	byKey := len(named) > 0 && !slices.ContainsFunc(named, func(f *schema.Field) bool { return !f.PrimaryKey }) ||
		len(on.Columns) == 0 && on.OnConstraint == "" && on.UpdateAll // gorm then names the key
	switch {
	case byKey && (!anyIndex || len(declared) == 0):
		if len(u.columns) == 0 {
			return nil, nil
		}
	case byKey:
		u.indexes, u.catalog = declared, true
	case len(named) > 0:
		u.indexes, u.replaces, u.catalog = []keys.Unique{{Fields: named, Where: on.TargetWhere.Exprs}}, true, anyIndex
		for _, set := range declared {
			if anyIndex && !slices.Equal(set.Fields, named) {
				u.indexes = append(u.indexes, set)
			}
		}
	default:
		u.indexes, u.catalog = declared, true
		u.replaces = on.OnConstraint != "" || !on.DoNothing
	}
	u.exactCount = on.DoNothing && (!anyIndex || len(declared) == 0 && len(named) == 0 && dialect.CountsWritten(db))
	return u, nil
}

// namedFields returns the fields that a conflict clause names. It returns nil if one is not the
// model's, because its value is not known.
func namedFields(s *schema.Schema, columns []clause.Column) (named []*schema.Field) {
	for _, column := range columns {
		f := s.LookUpField(column.Name)
		if column.Name == clause.PrimaryKey {
			f = s.PrioritizedPrimaryField
		}
		if f == nil {
			return nil
		}
		named = append(named, f)
	}
	return named
}

// After sets the keys that the rows have in the database, before children get them as foreign
// keys.
func (p Upserts) After(db *gorm.DB) {
	stmt := db.Statement
	state, _ := stmt.Settings.LoadAndDelete(setting)
	s, ok := state.(*statement)
	if !ok || s.upsert == nil || db.Error != nil || db.DryRun {
		return
	}
	u := s.upsert
	u.db, u.rows = db, rows.Structs(stmt)
	if on, _, ok := conflictOf(stmt); ok && on.DoNothing {
		u.lookUp = true // gorm changes an UpdateAll with nothing to update to DoNothing
	}
	if !u.lookUp || u.exactCount && db.RowsAffected >= int64(len(u.rows)) {
		return
	}
	var suspects []int
	for i := range u.rows {
		if u.replaces || len(u.columns) > 0 || u.lacks(i, missingKey) {
			suspects = append(suspects, i)
		}
	}
	if err := u.resolve(suspects); err != nil {
		if u.insert == nil { // the graph writer adds the package's name
			err = fmt.Errorf("gormplugin: %w", err)
		}
		_ = db.AddError(fmt.Errorf("%w (after ON CONFLICT)", err))
	}
}

// all returns the columns that are set to what an existing row has.
func (u *upsert) all() []keys.Column { return slices.Concat(u.keys, u.columns) }

func (u *upsert) lacks(row int, what missing) bool {
	return row < len(u.missing) && u.missing[row]&what != 0
}

// addReturning adds the key to what the statement returns. It must then also name the columns
// that gorm would have added.
func (u *upsert) addReturning(stmt *gorm.Statement) {
	var columns []clause.Column
	if c, ok := stmt.Clauses["RETURNING"]; ok {
		r, isReturning := c.Expression.(clause.Returning)
		if !isReturning || len(r.Columns) == 0 || r.Columns[0].Name == "*" {
			return // all columns
		}
		columns = slices.Clone(r.Columns)
	} else {
		for _, f := range stmt.Schema.FieldsWithDefaultDBValue {
			if f.Readable {
				columns = append(columns, clause.Column{Name: f.DBName})
			}
		}
	}
	for _, own := range u.all() {
		if !slices.ContainsFunc(columns, func(c clause.Column) bool { return c.Name == own.DBName }) {
			columns = append(columns, clause.Column{Name: own.DBName})
		}
	}
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: clause.Returning{Columns: columns}}
}

// removeReturning removes the key from what the statement returns: if rows are left out, gorm
// would set it in the wrong structs. It reports whether the statement still returns columns.
func (u *upsert) removeReturning(stmt *gorm.Statement) bool {
	c, ok := stmt.Clauses["RETURNING"]
	if !ok {
		return len(stmt.Schema.FieldsWithDefaultDBValue) > 0
	}
	r, ok := c.Expression.(clause.Returning)
	if !ok || len(r.Columns) == 0 {
		return true
	}
	columns := slices.DeleteFunc(slices.Clone(r.Columns), func(c clause.Column) bool {
		return slices.ContainsFunc(u.all(), func(own keys.Column) bool { return own.DBName == c.Name })
	})
	if len(columns) == 0 {
		delete(stmt.Clauses, "RETURNING")
		return len(stmt.Schema.FieldsWithDefaultDBValue) > 0
	}
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: clause.Returning{Columns: columns}}
	return true
}
