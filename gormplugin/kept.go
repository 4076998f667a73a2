package gormplugin

import (
	"database/sql/driver"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// The plugin may fill a column beside the key, such as a public number. An upsert with
// UpdateAll must not replace its value in an existing row with the id that it has just filled.

// keptKey is the setting of a statement for the ids that were filled beside the key.
const keptKey = "snowkey:kept"

// filledColumn has the ids that a statement has filled in a column that is no key.
type filledColumn struct {
	values []any
	all    bool // every row got one
}

var plainText = regexp.MustCompile(`^[0-9A-Za-z]+$`)

// list is what follows IN. Where the statement would have more parameters than a database
// takes, the values are in its text.
func (f filledColumn) list(stmt *gorm.Statement, parameters int) any {
	if parameters <= maxParameters(stmt.Name()) {
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

// noteFilled stores the filled columns if the statement has a conflict clause with UpdateAll.
func noteFilled(stmt *gorm.Statement, targets []target, ids [][]int64, rows int) {
	if on, _, ok := conflictOf(stmt); !ok || !on.UpdateAll {
		return
	}
	filled := map[string]filledColumn{}
	for i, t := range targets {
		if len(ids[i]) == 0 || t.field == nil || t.field.PrimaryKey {
			continue
		}
		f := filledColumn{all: len(ids[i]) >= rows && !hasCreateHook(stmt)} // a hook may set another
		for _, id := range ids[i] {
			f.values = append(f.values, t.kind.value(t.field.IndirectFieldType, id))
		}
		filled[t.column] = f
	}
	stmt.Settings.Store(keptKey, filled)
}

// filledColumns returns the filled columns of a statement, by name.
func filledColumns(stmt *gorm.Statement, p *Plugin) map[string]filledColumn {
	c := chainOf(stmt)
	if c == nil {
		noted, _ := stmt.Settings.Load(keptKey)
		filled, _ := noted.(map[string]filledColumn)
		return filled
	}
	filled, ours := map[string]filledColumn{}, &keySet{given: c.w.undo.given}
	_, columns := p.followed(stmt)
	for _, t := range columns {
		f := filledColumn{all: true}
		for _, n := range c.rows {
			if v := fieldAt(n.row, t.field.StructField.Index); ours.has(v) {
				f.values = append(f.values, indirect(v).Interface())
			} else {
				f.all = false
			}
		}
		if len(f.values) > 0 {
			filled[t.column] = f
		}
	}
	return filled
}

// registerKept makes gorm write conflict clauses as keepFilled changes them.
func (p *Plugin) registerKept(db *gorm.DB) {
	next := db.ClauseBuilders["ON CONFLICT"]
	db.ClauseBuilders["ON CONFLICT"] = func(c clause.Clause, builder clause.Builder) {
		if stmt, ok := builder.(*gorm.Statement); ok {
			if on, ok := c.Expression.(clause.OnConflict); ok && on.UpdateAll {
				c.Expression = p.keepFilled(stmt, on)
			}
		}
		if next != nil {
			next(c, builder)
		} else {
			c.Build(builder)
		}
	}
}

// keepFilled changes the clause so that each filled column keeps its value in existing rows. It
// does so only for rows whose new value was filled by this statement.
func (p *Plugin) keepFilled(stmt *gorm.Statement, on clause.OnConflict) clause.OnConflict {
	filled := filledColumns(stmt, p)
	if len(filled) == 0 {
		return on
	}
	parameters := len(stmt.Vars)
	for _, f := range filled {
		parameters += len(f.values)
	}
	on.DoUpdates = slices.Clone(on.DoUpdates)
	for i, update := range on.DoUpdates {
		f, ok := filled[update.Column.Name]
		excluded, all := update.Value.(clause.Column)
		if !ok || !all || excluded.Table != "excluded" {
			continue
		}
		own := clause.Column{Table: clause.CurrentTable, Name: update.Column.Name}
		if f.all {
			on.DoUpdates[i].Value = own
			continue
		}
		var given any = excluded
		if stmt.Name() == "mysql" {
			given = clause.Expr{SQL: "VALUES(?)", Vars: []any{clause.Column{Name: excluded.Name}}}
		}
		on.DoUpdates[i].Value = clause.Expr{SQL: "CASE WHEN ? IN ? THEN ? ELSE ? END", Vars: []any{given, f.list(stmt, parameters), own, given}}
	}
	return on
}
