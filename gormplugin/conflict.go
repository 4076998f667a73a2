package gormplugin

import (
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

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

// target is where rows may collide.
type target struct {
	byKey    bool          // the conflict clause names the key
	indexes  []keys.Unique // other than the key
	replaces bool          // a key that was set may be replaced by an existing row's
}

// conflictTarget returns where rows may collide: in what the conflict clause names, or else in the indexes
// that the model declares. With anyIndex, they may collide in these indexes too.
func conflictTarget(model *schema.Schema, on clause.OnConflict, declared []keys.Unique, anyIndex bool) (t target) {
	named := namedFields(model, on.Columns)
	other := func(f *schema.Field) bool { return !slices.Contains(named, f) }
	switch {
	case len(on.Columns) == 0 && on.OnConstraint == "" && on.UpdateAll, // gorm then names the key
		len(model.PrimaryFields) > 0 && !slices.ContainsFunc(model.PrimaryFields, other):
		t.byKey = true
	case len(named) > 0:
		t.indexes, t.replaces = []keys.Unique{{Fields: named, Where: on.TargetWhere.Exprs}}, true
	default:
		anyIndex, t.replaces = true, on.OnConstraint != "" || !on.DoNothing
	}
	if anyIndex {
		t.indexes = append(t.indexes, declared...)
	}
	return t
}

// namedFields returns the fields that a conflict clause names, or nil if the model lacks one: its
// value is not known.
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

// keepNumbers expands the statement's UpdateAll so that filled columns other than the key, such as a
// public number, keep their values in existing rows.
func (s *statement) keepNumbers() {
	numbers := slices.DeleteFunc(slices.Clone(s.filled), func(f keys.Need) bool { return f.Column.Field.PrimaryKey })
	if len(numbers) == 0 {
		return
	}
	callbacks.ConvertToCreateValues(s.stmt) // it adds the columns of UpdateAll
	on, _ := conflictOf(s.stmt)
	on.UpdateAll, on.DoUpdates = false, slices.Clone(on.DoUpdates)
	for i, update := range on.DoUpdates {
		k := slices.IndexFunc(numbers, func(f keys.Need) bool { return f.Column.DBName == update.Column.Name })
		if k < 0 {
			continue
		}
		f, own := numbers[k], clause.Column{Table: clause.CurrentTable, Name: update.Column.Name}
		if len(f.Rows) == len(s.rows) && !s.hooks {
			on.DoUpdates[i].Value = own
			continue
		}
		var ids []any
		for _, id := range f.IDs {
			ids = append(ids, f.Column.Value(id))
		}
		var given any = clause.Column{Table: "excluded", Name: update.Column.Name}
		if s.stmt.Name() == "mysql" {
			given = clause.Expr{SQL: "VALUES(?)", Vars: []any{clause.Column{Name: update.Column.Name}}}
		}
		on.DoUpdates[i].Value = clause.Expr{SQL: "CASE WHEN ? IN ? THEN ? ELSE ? END", Vars: []any{given, ids, own, given}}
	}
	s.stmt.AddClause(on)
}

// returnInPlace names the columns of a RETURNING *, which gorm would scan into new structs instead
// of those that were given.
func returnInPlace(stmt *gorm.Statement) {
	r, ok := stmt.Clauses["RETURNING"].Expression.(clause.Returning)
	if !ok || len(r.Columns) > 0 && r.Columns[0].Name != "*" {
		return
	}
	r.Columns = []clause.Column{{Name: "*", Raw: true}, {Name: "*", Raw: true}} // of several, gorm scans in place
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: r}
}
