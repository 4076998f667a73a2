package gormplugin

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

const upsertKey = "snowkey:upsert"

// upsert is a create with ON CONFLICT whose rows may turn out to have another key
// than they were given.
type upsert struct {
	keys   []target // the parts of the key that are filled
	sets   []unique // by which a row may have collided
	untold bool     // and by those that only the database knows
	all    bool     // rows whose key was set by the caller are looked at too
	ask    bool     // RETURNING cannot tell: look the keys up
	sure   bool     // the count of rows tells whether all were inserted
}

// filledKeys are the parts of the primary key that have a source.
func (p *Plugin) filledKeys(s *schema.Schema) (keys []target) {
	targets, err := p.keysOf(s)
	if err != nil {
		return nil // fill tells it
	}
	for _, t := range targets {
		if t.source != nil && t.field.PrimaryKey {
			keys = append(keys, t)
		}
	}
	return keys
}

// structRows are the rows of a statement that are addressable structs, or nil if some are not.
func structRows(stmt *gorm.Statement) []reflect.Value {
	if !stmt.ReflectValue.IsValid() {
		return nil
	}
	var rows []reflect.Value
	model := stmt.Schema.ModelType
	add := func(v reflect.Value) bool {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct || !v.CanAddr() || v.Type() != model && !v.Type().ConvertibleTo(model) {
			return false // the same fields under another name are as good
		}
		rows = append(rows, v)
		return true
	}
	switch v := stmt.ReflectValue; v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !add(v.Index(i)) {
				return nil
			}
		}
	default:
		if !add(v) {
			return nil
		}
	}
	return rows
}

// beforeUpsert makes the statement return the keys where that is right, and else
// prepares to ask for them.
func (p *Plugin) beforeUpsert(db *gorm.DB) {
	stmt := db.Statement
	stmt.Settings.Delete(upsertKey)
	c, conflict := stmt.Clauses["ON CONFLICT"]
	if !conflict || db.Error != nil || stmt.Schema == nil {
		return
	}
	on, ok := c.Expression.(clause.OnConflict)
	if !ok || len(structRows(stmt)) == 0 {
		return
	}
	u, err := p.upsertOf(db, on)
	if err != nil {
		_ = db.AddError(err)
		return
	}
	if u == nil {
		return
	}
	returns := slices.Contains(db.Callback().Create().Clauses, "RETURNING")
	update := !on.DoNothing && (len(on.DoUpdates) > 0 || on.UpdateAll)
	if fresh := u.freshRows(stmt); on.DoNothing && db.Name() == "mysql" && len(fresh) > 0 && !slices.Contains(fresh, false) {
		update = true // MariaDB has it update each key to itself, and returns every row
	}
	if update && len(on.Where.Exprs) == 0 && returns {
		u.returning(stmt)
		if chain := chainOf(stmt); chain != nil {
			for _, n := range chain.rows { // gorm will set them
				for _, t := range u.keys {
					chain.w.undo.saveMoved(t.field.ReflectValueOf(stmt.Context, n.row))
				}
			}
		}
	} else {
		u.ask = true
		u.sure = !u.keepReturned(stmt) && u.sure
	}
	stmt.Settings.Store(upsertKey, u)
}

// upsertOf is nil where no row can turn out to have another key.
func (p *Plugin) upsertOf(db *gorm.DB, on clause.OnConflict) (*upsert, error) {
	stmt := db.Statement
	u := &upsert{keys: p.filledKeys(stmt.Schema)}
	if len(u.keys) == 0 {
		return nil, nil
	}
	declared, err := p.uniques(db, stmt.Schema)
	if err != nil {
		return nil, err
	}
	anyIndex := db.Name() == "mysql" // ON DUPLICATE KEY names none
	var named []*schema.Field
	for _, column := range on.Columns {
		f := stmt.Schema.LookUpField(column.Name)
		if column.Name == clause.PrimaryKey {
			f = stmt.Schema.PrioritizedPrimaryField
		}
		if f == nil { // not the model's: its value is not known
			named = nil
			break
		}
		named = append(named, f)
	}
	byKey := len(named) > 0 && !slices.ContainsFunc(named, func(f *schema.Field) bool { return !f.PrimaryKey }) ||
		len(on.Columns) == 0 && on.OnConstraint == "" && on.UpdateAll // gorm names the key then
	switch {
	case byKey && (!anyIndex || len(declared) == 0):
		return nil, nil
	case byKey:
		u.sets, u.untold = declared, true
	case len(named) > 0:
		u.sets, u.all, u.untold = []unique{{named, on.TargetWhere.Exprs}}, true, anyIndex
		for _, set := range declared {
			if anyIndex && !slices.Equal(set.fields, named) {
				u.sets = append(u.sets, set)
			}
		}
	default:
		u.sets, u.untold = declared, true
		u.all = on.OnConstraint != "" || !on.DoNothing
	}
	u.sure = on.DoNothing && (!anyIndex || len(declared) == 0 && len(named) == 0 && countsWritten(db))
	return u, nil
}

// returning adds the key to what the statement returns. The columns that gorm
// would have added by itself must then be named as well.
func (u *upsert) returning(stmt *gorm.Statement) {
	var columns []clause.Column
	if c, ok := stmt.Clauses["RETURNING"]; ok {
		r, isReturning := c.Expression.(clause.Returning)
		if !isReturning || len(r.Columns) == 0 || r.Columns[0].Name == "*" {
			return // all of it
		}
		columns = slices.Clone(r.Columns)
	} else {
		for _, f := range stmt.Schema.FieldsWithDefaultDBValue {
			if f.Readable {
				columns = append(columns, clause.Column{Name: f.DBName})
			}
		}
	}
	for _, t := range u.keys {
		if !slices.ContainsFunc(columns, func(c clause.Column) bool { return c.Name == t.column }) {
			columns = append(columns, clause.Column{Name: t.column})
		}
	}
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: clause.Returning{Columns: columns}}
}

// keepReturned takes the key out of what is returned, for where rows are left out
// gorm would set it in the wrong structs. It reports whether anything is returned.
func (u *upsert) keepReturned(stmt *gorm.Statement) bool {
	c, ok := stmt.Clauses["RETURNING"]
	if !ok {
		return len(stmt.Schema.FieldsWithDefaultDBValue) > 0
	}
	r, ok := c.Expression.(clause.Returning)
	if !ok || len(r.Columns) == 0 {
		return true
	}
	columns := slices.DeleteFunc(slices.Clone(r.Columns), func(c clause.Column) bool {
		return slices.ContainsFunc(u.keys, func(t target) bool { return t.column == c.Name })
	})
	if len(columns) == 0 {
		delete(stmt.Clauses, "RETURNING")
		return len(stmt.Schema.FieldsWithDefaultDBValue) > 0
	}
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: clause.Returning{Columns: columns}}
	return true
}

// afterUpsert sets the keys that the rows have in the database, before details
// get them as foreign keys.
func (p *Plugin) afterUpsert(db *gorm.DB) {
	stmt := db.Statement
	v, ok := stmt.Settings.LoadAndDelete(upsertKey)
	defer stmt.Settings.Delete(freshKey)
	if !ok || db.Error != nil || db.DryRun {
		return
	}
	u := v.(*upsert)
	fresh := u.freshRows(stmt)
	rows := structRows(stmt)
	c := chainOf(stmt)
	if on, ok := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict); ok && on.DoNothing {
		u.ask = true // gorm makes this of an UpdateAll that has nothing to update
	}
	if !u.ask {
		if c != nil {
			c.w.moved = true
		}
		return
	}
	if u.sure && db.RowsAffected >= int64(len(rows)) {
		return
	}
	var suspects []int
	for i := range rows {
		if u.all || i < len(fresh) && fresh[i] {
			suspects = append(suspects, i)
		}
	}
	if err := u.reread(db, c, rows, suspects, fresh); err != nil {
		if c == nil { // else Create says whose it is
			err = fmt.Errorf("gormplugin: %w", err)
		}
		_ = db.AddError(fmt.Errorf("%w (after ON CONFLICT)", err))
	}
}

// reread finds out which of the suspects were not written under their key, and
// sets the key of the row that each collided with.
func (u *upsert) reread(db *gorm.DB, c *chain, rows []reflect.Value, suspects []int, fresh []bool) error {
	if len(suspects) == 0 {
		return nil
	}
	there, err := u.find(db, rows, suspects, unique{fields: db.Statement.Schema.PrimaryFields})
	if err != nil {
		return err
	}
	suspects = slices.DeleteFunc(suspects, func(i int) bool { return there[i] != nil })
	if suspects, err = u.findBy(db, c, rows, suspects, u.sets); err != nil {
		return err
	}
	lost := func(i int) bool { return i < len(fresh) && fresh[i] }
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
	for _, i := range suspects {
		if lost(i) {
			if err := u.unwritten(db, c, i, rows[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// findBy sets the keys of the rows that collided by one of the sets, and gives the places of
// those that did not.
func (u *upsert) findBy(db *gorm.DB, c *chain, rows []reflect.Value, suspects []int, sets []unique) ([]int, error) {
	for _, set := range sets {
		if len(suspects) == 0 {
			break
		}
		found, err := u.find(db, rows, suspects, set)
		if err != nil {
			return nil, err
		}
		for i, key := range found {
			if err := u.setKey(db, c, rows[i], key); err != nil {
				return nil, err
			}
		}
		suspects = slices.DeleteFunc(suspects, func(i int) bool { return found[i] != nil })
	}
	return suspects, nil
}

func (u *upsert) setKey(db *gorm.DB, c *chain, row reflect.Value, key []any) error {
	for k, t := range u.keys {
		field := t.field.ReflectValueOf(db.Statement.Context, row)
		if c != nil {
			c.w.undo.saveMoved(field)
			c.w.moved = true
		}
		if field.Kind() == reflect.Pointer {
			field.SetZero() // gorm would write through it, where another row's key or the caller's own may be
		}
		if err := t.field.Set(db.Statement.Context, row, key[k]); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// unwritten takes back the key of a row that is nowhere: it collided by an index that
// nobody tells, as by what an expression computes. If others hold that key, it is an error.
func (u *upsert) unwritten(db *gorm.DB, c *chain, i int, row reflect.Value) error {
	stmt := db.Statement
	needed := false
	if c != nil {
		needed = c.w.isParent(c.rows[i])
	} else {
		r := &stmt.Schema.Relationships
		for _, rel := range slices.Concat(r.HasOne, r.HasMany, r.Many2Many) {
			v := fieldAt(row, rel.Field.StructField.Index)
			needed = needed || v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
		}
	}
	if needed {
		return fmt.Errorf("%s row %d was not written, and the row that it collided with is not found by %s: others would refer to a key that is not there",
			stmt.Schema.Name, i, u.indexes())
	}
	for _, t := range u.keys {
		if c != nil {
			c.w.undo.saveMoved(t.field.ReflectValueOf(stmt.Context, row))
		}
		t.field.ReflectValueOf(stmt.Context, row).SetZero()
	}
	return nil
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
