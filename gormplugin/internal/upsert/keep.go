package upsert

import (
	"database/sql/driver"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/insert"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// The plugin may fill a column beside the key, such as a public number. An upsert with
// UpdateAll must not replace its value in an existing row with the id that it has just filled.

// filledColumn has the ids that a statement has filled in a column that is no key.
type filledColumn struct {
	values []any
	every  bool // every row got one
}

// Filled notes the ids of a column if the statement has a conflict clause with UpdateAll. hooked
// says that a hook may change them.
func Filled(stmt *gorm.Statement, c *keys.Column, ids []int64, n int, hooked bool) {
	if len(ids) == 0 || c.Field == nil || c.Field.PrimaryKey {
		return
	}
	if on, _, ok := conflictOf(stmt); !ok || !on.UpdateAll {
		return
	}
	f := filledColumn{every: len(ids) >= n && !hooked}
	for _, id := range ids {
		f.values = append(f.values, c.Value(id))
	}
	stateOf(stmt).filled[c.DBName] = f
}

// filledColumns returns the filled columns of a statement, by name.
func (p Upserts) filledColumns(stmt *gorm.Statement) map[string]filledColumn {
	graph := insert.Of(stmt)
	if graph == nil {
		return stateOf(stmt).filled
	}
	given, list := graph.Given(), rows.Structs(stmt)
	filled := map[string]filledColumn{}
	_, columns := p.Keys.Upserted(stmt.Schema, stmt.Table)
	for _, c := range columns {
		f := filledColumn{every: true}
		for _, row := range list {
			if v := rows.Field(row, c.Field.StructField.Index); given.Has(v) {
				f.values = append(f.values, rows.Indirect(v).Interface())
			} else {
				f.every = false
			}
		}
		if len(f.values) > 0 {
			filled[c.DBName] = f
		}
	}
	return filled
}

// RegisterClause makes gorm write conflict clauses with UpdateAll so that a filled column keeps
// its value in existing rows.
func (p Upserts) RegisterClause(db *gorm.DB) {
	next := db.ClauseBuilders["ON CONFLICT"]
	db.ClauseBuilders["ON CONFLICT"] = func(c clause.Clause, builder clause.Builder) {
		if stmt, ok := builder.(*gorm.Statement); ok {
			if on, ok := c.Expression.(clause.OnConflict); ok && on.UpdateAll {
				c.Expression = keepFilled(stmt, on, p.filledColumns(stmt))
			}
		}
		if next != nil {
			next(c, builder)
		} else {
			c.Build(builder)
		}
	}
}

// keepFilled changes the clause only for the rows whose new value was filled by this statement.
func keepFilled(stmt *gorm.Statement, on clause.OnConflict, filled map[string]filledColumn) clause.OnConflict {
	if len(filled) == 0 {
		return on
	}
	parameters := len(stmt.Vars)
	for _, f := range filled {
		parameters += len(f.values)
	}
	literal := parameters > dialect.MaxParameters(stmt.DB)
	on.DoUpdates = slices.Clone(on.DoUpdates)
	for i, update := range on.DoUpdates {
		f, ok := filled[update.Column.Name]
		excluded, isColumn := update.Value.(clause.Column)
		if !ok || !isColumn || excluded.Table != "excluded" {
			continue
		}
		own := clause.Column{Table: clause.CurrentTable, Name: update.Column.Name}
		if f.every {
			on.DoUpdates[i].Value = own
			continue
		}
		var given any = excluded
		if stmt.Name() == "mysql" {
			given = clause.Expr{SQL: "VALUES(?)", Vars: []any{clause.Column{Name: excluded.Name}}}
		}
		on.DoUpdates[i].Value = clause.Expr{SQL: "CASE WHEN ? IN ? THEN ? ELSE ? END", Vars: []any{given, f.list(literal), own, given}}
	}
	return on
}

var plainText = regexp.MustCompile(`^[0-9A-Za-z]+$`)

// list returns what follows IN: the values, or literals if the database would not take that
// many parameters.
func (f filledColumn) list(literal bool) any {
	if !literal {
		return f.values
	}
	literals := make([]string, len(f.values))
	for i, value := range f.values {
		v, _ := driver.DefaultParameterConverter.ConvertValue(value)
		text, isText := v.(string)
		number, isNumber := v.(int64)
		switch {
		case isNumber:
			literals[i] = strconv.FormatInt(number, 10)
		case isText && plainText.MatchString(text):
			literals[i] = "'" + text + "'"
		default: // made by a method of the field's type
			return f.values
		}
	}
	return clause.Expr{SQL: "(" + strings.Join(literals, ",") + ")"}
}
