package gormplugin

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// upsert is a create with a conflict clause: a row may have collided with another, which has
// another key than the one that the struct was given.
type upsert struct {
	rows    []int           // which may have collided
	fields  []*schema.Field // the key, and the columns beside it that are filled
	own     []keys.Unique   // a row with the same values is the one that was given: the key, and a number
	fresh   []int           // the rows with a number of the plugin's: one that was set may be another's
	indexes []keys.Unique   // in which a row may have collided
	sent    map[int][]any   // the values of the fields, by the row
}

// conflictOf returns a statement's conflict clause. For MySQL's INSERT IGNORE and SQLite's INSERT
// OR IGNORE, it is one with DoNothing.
func conflictOf(stmt *gorm.Statement) (on clause.OnConflict, ok bool) {
	if c, ok := stmt.Clauses["ON CONFLICT"]; ok {
		on, ok = c.Expression.(clause.OnConflict)
		return on, ok
	}
	insert, ok := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	return clause.OnConflict{DoNothing: true}, ok && strings.Contains(strings.ToUpper(insert.Modifier), "IGNORE")
}

// prepareUpsert notes what resolve must look up, unless no row can have another key.
func (s *statement) prepareUpsert(registry *keys.Registry, db *gorm.DB, on clause.OnConflict) error {
	u := &upsert{fields: slices.Clone(s.stmt.Schema.PrimaryFields)}
	var beside []*schema.Field
	for _, f := range s.filled {
		u.rows = append(u.rows, f.rows...)
		if f.column.Field.PrimaryKey {
			continue
		}
		if beside = append(beside, f.column.Field); len(beside) == 1 {
			u.fresh = f.rows
		}
	}
	declared, err := registry.Uniques(db, s.stmt.Schema)
	if err != nil {
		return err
	}
	named, anyIndex := namedFields(s.stmt.Schema, on.Columns), db.Name() == "mysql" // ON DUPLICATE KEY names no columns
	byKey := len(named) > 0 && !slices.ContainsFunc(named, func(f *schema.Field) bool { return !f.PrimaryKey }) ||
		len(on.Columns) == 0 && on.OnConstraint == "" && on.UpdateAll // gorm then names the key
	switch {
	case byKey && (!anyIndex || len(declared) == 0):
		if len(beside) == 0 {
			return nil
		}
	case len(named) > 0 && !byKey:
		u.indexes = []keys.Unique{{Fields: named, Where: on.TargetWhere.Exprs}}
		if anyIndex {
			u.indexes = append(u.indexes, declared...)
		}
	default:
		u.indexes = declared
	}
	if !byKey && (len(named) > 0 || on.OnConstraint != "" || !on.DoNothing) { // a key that was set may be another's too
		u.rows = u.rows[:0]
		for i := range s.rows.Len {
			u.rows = append(u.rows, i)
		}
	}
	slices.Sort(u.rows)
	if u.rows = slices.Compact(u.rows); len(u.rows) == 0 {
		return nil
	}
	if returning, ok := s.stmt.Clauses["RETURNING"].Expression.(clause.Returning); ok && s.stmt.ReflectValue.Kind() != reflect.Struct && (on.DoNothing || len(on.Where.Exprs) > 0) {
		return fmt.Errorf("RETURNING %v with an ON CONFLICT that may skip rows: gorm would set the fields of other rows; leave Returning out, or create one struct after the other", columnNames(returning.Columns))
	}
	u.own = []keys.Unique{{Fields: s.stmt.Schema.PrimaryFields}}
	if len(beside) > 0 { // the database may make the key
		u.own = append(u.own, keys.Unique{Fields: beside[:1]})
	}
	u.fields = append(u.fields, beside...)
	u.sent = make(map[int][]any, len(u.rows))
	for _, i := range u.rows {
		row := s.rows.At(i)
		for _, f := range u.fields {
			value, _ := f.ValueOf(s.stmt.Context, row)
			u.sent[i] = append(u.sent[i], value)
		}
	}
	s.upsert = u
	return nil
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

func columnNames(columns []clause.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// resolve sets each row that collided to the key that it has in the database. A row without a key
// of its own that is not found is an error.
func (s *statement) resolve(db *gorm.DB) error {
	u := s.upsert
	on, _ := conflictOf(s.stmt) // gorm changes an UpdateAll with nothing to update to DoNothing
	_, returning := s.stmt.Clauses["RETURNING"]
	if on.DoNothing && !returning && db.Name() != "mysql" && db.RowsAffected == int64(s.rows.Len) {
		return nil // MySQL's count may include rows that exist
	}
	for _, i := range u.rows { // gorm may have set another row's key: by the position of what the database returned
		if err := s.set(i, u.sent[i]); err != nil {
			return err
		}
	}
	rest := u.rows
	for k, by := range slices.Concat(u.own, u.indexes) {
		asked := rest
		if k > 0 && k < len(u.own) {
			asked = slices.DeleteFunc(slices.Clone(rest), func(i int) bool { _, ok := slices.BinarySearch(u.fresh, i); return !ok })
		}
		if len(asked) == 0 {
			continue
		}
		found, err := s.find(db, asked, by)
		if err != nil {
			return fmt.Errorf("after ON CONFLICT: %w", err)
		}
		for i, values := range found {
			if err := s.set(i, values); err != nil {
				return err
			}
		}
		rest = slices.DeleteFunc(slices.Clone(rest), func(i int) bool { return found[i] != nil })
	}
	for _, i := range rest {
		if slices.ContainsFunc(s.filled, func(f filled) bool { return slices.Contains(f.rows, i) }) {
			return fmt.Errorf("row %d was not written, and the row that it collided with is not found by %s: its model must declare the unique index, and the database must not change the values (as it rounds a time)", i, u.indexNames())
		}
	}
	return nil
}

// set sets the fields of a row. gorm would write through a pointer, which another row may share.
func (s *statement) set(i int, values []any) error {
	for k, f := range s.upsert.fields {
		f.ReflectValueOf(s.stmt.Context, s.rows.At(i)).SetZero()
		if values[k] == nil {
			continue
		}
		if err := f.Set(s.stmt.Context, s.rows.At(i), values[k]); err != nil {
			return fmt.Errorf("%s: %w", keys.FieldName(f), err)
		}
	}
	return nil
}

func (u *upsert) indexNames() string {
	if len(u.indexes) == 0 {
		return "any unique index (the model declares none)"
	}
	names := make([][]string, len(u.indexes))
	for k, index := range u.indexes {
		names[k] = keys.FieldNames(index.Fields)
	}
	return fmt.Sprint(names)
}

// keepFilled makes gorm write a conflict clause with UpdateAll so that a column that the plugin
// has filled beside the key, such as a public number, keeps its value in existing rows.
func keepFilled(db *gorm.DB) {
	next := db.ClauseBuilders["ON CONFLICT"]
	db.ClauseBuilders["ON CONFLICT"] = func(c clause.Clause, builder clause.Builder) {
		stmt, _ := builder.(*gorm.Statement)
		on, isConflict := c.Expression.(clause.OnConflict)
		if stmt != nil && isConflict && on.UpdateAll {
			if s := statementOf(stmt); s != nil {
				c.Expression = s.keepFilled(on)
			}
		}
		if next != nil {
			next(c, builder)
		} else {
			c.Build(builder)
		}
	}
}

func (s *statement) keepFilled(on clause.OnConflict) clause.OnConflict {
	on.DoUpdates = slices.Clone(on.DoUpdates)
	for i, update := range on.DoUpdates {
		k := slices.IndexFunc(s.filled, func(f filled) bool { return f.column.DBName == update.Column.Name })
		if k < 0 {
			continue
		}
		var ids []any
		for _, id := range s.filled[k].ids {
			ids = append(ids, s.filled[k].column.Value(id))
		}
		var given any = clause.Column{Table: "excluded", Name: update.Column.Name}
		if s.stmt.Name() == "mysql" {
			given = clause.Expr{SQL: "VALUES(?)", Vars: []any{clause.Column{Name: update.Column.Name}}}
		}
		on.DoUpdates[i].Value = clause.Expr{SQL: "CASE WHEN ? IN ? THEN ? ELSE ? END",
			Vars: []any{given, ids, clause.Column{Table: clause.CurrentTable, Name: update.Column.Name}, given}}
	}
	return on
}
