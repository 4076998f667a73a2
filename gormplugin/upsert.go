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
	keys    []target // the parts of the key that are filled, or the key where the database makes it
	columns []target // the columns beside it that are filled
	id      unique   // by which a row is known to be the one that was given
	shared  bool     // several rows may be alike in it, where the caller set it
	sets    []unique // by which a row may have collided
	untold  bool     // and by those that only the database knows
	all     bool     // a key that was set by the caller gives way too
	ask     bool     // RETURNING cannot tell: look the keys up
	sure    bool     // the count of rows tells whether all were inserted
	fresh   []lack   // what each row lacked
}

// followed returns the columns that an upsert sets in the struct to the values of an existing
// row: the parts of the key, and the columns beside it, that have a source. If only columns
// beside the key have a source, it returns the whole key.
func (p *Plugin) followed(stmt *gorm.Statement) (keys, columns []target) {
	targets, err := p.keysIn(stmt.Schema, stmt.Table)
	if err != nil {
		return nil, nil // fill tells it
	}
	for _, t := range targets {
		switch {
		case t.source == nil:
		case t.field.PrimaryKey:
			keys = append(keys, t)
		default:
			columns = append(columns, t)
		}
	}
	if len(keys) == 0 && len(columns) > 0 {
		for _, f := range stmt.Schema.PrimaryFields {
			keys = append(keys, target{name: fieldName(stmt.Schema, f), column: f.DBName, field: f})
		}
	}
	return keys, columns
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
	on, ignore, conflict := conflictOf(stmt)
	if !conflict || db.Error != nil || stmt.Schema == nil || len(structRows(stmt)) == 0 {
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
	u.fresh = u.freshRows(stmt)
	returns := slices.Contains(db.Callback().Create().Clauses, "RETURNING")
	update := !on.DoNothing && (len(on.DoUpdates) > 0 || on.UpdateAll)
	set := func(l lack) bool { return l&lacksKey == 0 }
	if on.DoNothing && !ignore && db.Name() == "mysql" && len(u.fresh) > 0 && !slices.ContainsFunc(u.fresh, set) {
		update = true // MariaDB has it update each key to itself, and returns every row
	}
	if update && len(on.Where.Exprs) == 0 && returns {
		u.returning(stmt)
		if chain := chainOf(stmt); chain != nil {
			for _, n := range chain.rows { // gorm will set them
				for _, t := range u.follow() {
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
	u := &upsert{}
	if u.keys, u.columns = p.followed(stmt); len(u.keys) == 0 {
		return nil, nil
	}
	if u.id.fields = stmt.Schema.PrimaryFields; u.keys[0].source == nil {
		u.id.fields = []*schema.Field{u.columns[0].field}
	}
	declared, err := p.uniques(db, stmt.Schema)
	if err != nil {
		return nil, err
	}
	u.shared = u.keys[0].source == nil && !slices.ContainsFunc(declared, func(set unique) bool {
		return len(set.where) == 0 && slices.Equal(set.fields, u.id.fields)
	})
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
		if len(u.columns) == 0 {
			return nil, nil
		}
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
	for _, t := range u.follow() {
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
		return slices.ContainsFunc(u.follow(), func(t target) bool { return t.column == c.Name })
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
	rows := structRows(stmt)
	c := chainOf(stmt)
	if on, _, ok := conflictOf(stmt); ok && on.DoNothing {
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
		if u.all || len(u.columns) > 0 || u.lacked(i, lacksKey) {
			suspects = append(suspects, i)
		}
	}
	if err := u.reread(db, c, rows, suspects); err != nil {
		if c == nil { // else Create says whose it is
			err = fmt.Errorf("gormplugin: %w", err)
		}
		_ = db.AddError(fmt.Errorf("%w (after ON CONFLICT)", err))
	}
}

func (u *upsert) follow() []target { return slices.Concat(u.keys, u.columns) }

func (u *upsert) lacked(row int, what lack) bool { return row < len(u.fresh) && u.fresh[row]&what != 0 }
