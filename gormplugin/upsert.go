package gormplugin

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// upsert is a create with a conflict clause. A row that collided has another key in the database
// than in its struct.
type upsert struct {
	target
	rows   []int           // to look up: they may have collided
	fields []*schema.Field // to set: the key, and other columns that the plugin fills
	sent   clause.Values   // the values of the INSERT
}

// prepareUpsert notes what resolve must look up, unless no row can have another key.
func (s *statement) prepareUpsert(registry *keys.Registry, db *gorm.DB, on clause.OnConflict) error {
	model := s.stmt.Schema
	declared, err := registry.Uniques(db, model)
	if err != nil {
		return err
	}
	anyIndex := db.Name() == "mysql" // ON DUPLICATE KEY names no columns
	u := &upsert{target: conflictTarget(model, on, declared, anyIndex), fields: slices.Clone(model.PrimaryFields)}
	for _, c := range s.columns {
		if c.Source != nil && !c.Field.PrimaryKey {
			u.fields = append(u.fields, c.Field)
		}
	}
	if u.byKey && !anyIndex && len(u.fields) == len(model.PrimaryFields) {
		return nil // a row that collides has the key of its struct
	}
	for i := range s.rows { // gorm may set a key that the database makes in the wrong row
		if u.replaces || !s.plan.FillsKey() || s.isNeeded(i) {
			u.rows = append(u.rows, i)
		}
	}
	if len(u.rows) == 0 {
		return nil
	}
	_, returning := s.stmt.Clauses["RETURNING"].Expression.(clause.Returning)
	if returning && len(s.rows) > 1 && (on.DoNothing || len(on.Where.Exprs) > 0) {
		return errors.New("RETURNING with an ON CONFLICT that may skip rows: gorm would set the fields of other rows; " +
			"leave Returning out, or create one row at a time")
	}
	s.upsert = u
	return nil
}

// resolve sets each row that collided to its key in the database. A row that was filled and is not
// found is an error.
func (s *statement) resolve(db *gorm.DB) error {
	u := s.upsert
	on, _ := conflictOf(s.stmt) // gorm changes an UpdateAll with nothing to update to DoNothing
	_, returning := s.stmt.Clauses["RETURNING"]
	if on.DoNothing && !returning && db.Name() != "mysql" && db.RowsAffected == int64(len(s.rows)) {
		return nil // MySQL's count may include rows that exist
	}
	if !s.readSent() {
		return fmt.Errorf("the INSERT has %d rows of %d: cannot tell which rows exist", len(u.sent.Values), len(s.rows))
	}
	found, err := s.findRows(db)
	for _, i := range u.rows {
		values := found[i]
		if values == nil { // gorm sets returned keys by position: they may be another row's
			for _, f := range u.fields {
				value, _ := u.valueOf(i, f)
				values = append(values, value)
			}
			err = cmp.Or(err, s.errNotFound(i))
		}
		err = cmp.Or(err, s.setFields(i, values))
	}
	if err != nil {
		return fmt.Errorf("after ON CONFLICT: %w", err)
	}
	return nil
}

// clearFound clears the keys of an upsert that replaces none and was not resolved, for each row that the same
// upsert would find by a unique index. Such a row may have another key in the database, and an upsert does
// not replace a key that is set.
func (s *statement) clearFound() {
	if s.upsert == nil || s.upsert.replaces || s.hooks || !s.readSent() {
		return
	}
	indexes := slices.DeleteFunc(slices.Clone(s.upsert.indexes), func(by keys.Unique) bool { // those that do not find it
		return len(by.Where) > 0 || slices.ContainsFunc(s.filled, func(f keys.Need) bool { return slices.Contains(by.Fields, f.Column.Field) })
	})
	for _, f := range s.filled {
		for _, i := range f.Rows {
			if slices.ContainsFunc(indexes, func(by keys.Unique) bool { return s.upsert.mayCollide(i, by) }) {
				f.Column.Clear(s.stmt.Context, s.rows[i])
			}
		}
	}
}

// readSent reads the values of the INSERT. It reports whether there are as many as rows.
func (s *statement) readSent() bool {
	s.upsert.sent, _ = s.stmt.Clauses["VALUES"].Expression.(clause.Values)
	return len(s.upsert.sent.Values) == len(s.rows)
}

// errNotFound returns the error for a row that is not found, or nil if nothing depends on its key.
func (s *statement) errNotFound(i int) error {
	switch keeps := s.keepsKey(i); {
	case keeps && s.isReferred(i):
		key, _ := s.upsert.valueOf(i, s.stmt.Schema.PrimaryFields[0])
		return fmt.Errorf("row %d was not written, because another row has its unique values, "+
			"and rows would refer to the missing key %v: set the key of that row, or leave it zero", i, key)
	case !keeps && s.isNeeded(i):
		return fmt.Errorf("row %d was not written, and the row that it collided with is not found by %s: "+
			"declare the unique index in the model, without length and expressions, "+
			"and send no values that it changes, such as times that it rounds", i, s.upsert.indexNames())
	}
	return nil
}

// keepsKey reports whether the caller has set the key of a row, and the struct keeps it also when the row
// has collided.
func (s *statement) keepsKey(i int) bool {
	if s.upsert.replaces || !s.plan.FillsKey() || s.isFilled(i, true) {
		return false
	}
	_, sent := s.upsert.valueOf(i, s.stmt.Schema.PrimaryFields[0])
	return sent
}

// isNeeded reports whether the key of a row must be known: the plugin has filled a column of the row, or
// other rows refer to it.
func (s *statement) isNeeded(i int) bool {
	return s.isFilled(i, false) || s.isReferred(i)
}

// isFilled reports whether the plugin has filled a column of a row, or, with ofKey, a part of its key.
func (s *statement) isFilled(i int, ofKey bool) bool {
	return slices.ContainsFunc(s.filled, func(f keys.Need) bool {
		_, is := slices.BinarySearch(f.Rows, i)
		return is && (!ofKey || f.Column.Field.PrimaryKey)
	})
}

// isReferred reports whether other rows of the create refer to row i.
func (s *statement) isReferred(i int) bool {
	if s.associated {
		return true
	}
	if refers, ok := s.stmt.Settings.Load(keys.Referred{}); ok {
		return refers.(func(int) bool)(i)
	}
	related := &s.stmt.Schema.Relationships
	named, restricted := s.stmt.SelectAndOmitColumns(true, false)
	return slices.ContainsFunc(slices.Concat(related.HasOne, related.HasMany, related.Many2Many), func(rel *schema.Relationship) bool {
		v := rows.Indirect(rows.Field(s.rows[i], rel.Field.StructField.Index))
		kept, isNamed := named[rel.Name]
		return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0) && (kept || !isNamed && !restricted)
	})
}

// valueOf returns the value that was sent for a column of a row, and false if none was, or a default
// of the database.
func (u *upsert) valueOf(i int, f *schema.Field) (any, bool) {
	k := slices.IndexFunc(u.sent.Columns, func(c clause.Column) bool { return c.Name == f.DBName })
	if k < 0 || k >= len(u.sent.Values[i]) {
		return nil, false
	}
	value := u.sent.Values[i][k]
	_, isExpr := value.(clause.Expression)
	return value, !isExpr
}

// setFields sets only the fields that differ: goroutines may share the row. It zeroes them first: gorm
// writes through pointers, which other rows may share.
func (s *statement) setFields(i int, values []any) error {
	for k, f := range s.upsert.fields {
		field := f.ReflectValueOf(s.stmt.Context, s.rows[i])
		if values[k] != nil && rows.Text(field) == rows.Text(reflect.ValueOf(values[k])) {
			continue
		}
		field.SetZero()
		if _, isExpr := values[k].(clause.Expression); isExpr || values[k] == nil {
			continue
		}
		if err := f.Set(s.stmt.Context, s.rows[i], values[k]); err != nil {
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
		for _, f := range index.Fields {
			names[k] = append(names[k], keys.FieldName(f))
		}
	}
	return fmt.Sprint(names)
}
