package upsert

import (
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/insert"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// setting is that of a statement for what the callbacks know of it.
const setting = "snowkey:upsert"

// statement is what the callbacks of a create note for the later ones.
type statement struct {
	missing []missing               // by the row
	filled  map[string]filledColumn // by the name of the column
	upsert  *upsert
}

// stateOf returns the statement's notes, which are then stored.
func stateOf(stmt *gorm.Statement) *statement {
	v, _ := stmt.Settings.LoadOrStore(setting, &statement{filled: map[string]filledColumn{}})
	return v.(*statement)
}

// missing says which values a row lacked before it was filled.
type missing uint8

const (
	missingKey missing = 1 << iota
	missingColumn
	missingFirst // the first of the columns
)

// Note notes which values the rows lack, before they are filled.
func (p Upserts) Note(db *gorm.DB) {
	stmt := db.Statement
	stmt.Settings.Delete(setting) // gorm copies the settings to the statements of associations
	if _, _, conflict := conflictOf(stmt); !conflict || db.Error != nil || stmt.Schema == nil || insert.Of(stmt) != nil {
		return
	}
	parts, columns := p.Keys.Upserted(stmt.Schema, stmt.Table)
	list := rows.Structs(stmt)
	if len(parts) == 0 || len(list) == 0 {
		return
	}
	all := make([]missing, len(list))
	for i, row := range list {
		all[i] = missingIn(row, parts, missingKey) | missingIn(row, columns, missingColumn) | missingIn(row, columns[:min(1, len(columns))], missingFirst)
	}
	stateOf(stmt).missing = all
}

// missingIn returns what if the row lacks one of the columns, and else 0.
func missingIn(row reflect.Value, columns []keys.Column, what missing) missing {
	for k := range columns {
		if zero, err := columns[k].IsZero(row); zero && err == nil { // filling reports the error
			return what
		}
	}
	return 0
}

// Keep says which of the rows that were noted are still in the statement, by their indexes.
func Keep(stmt *gorm.Statement, indexes []int) {
	state := stateOf(stmt)
	var kept []missing
	for _, i := range indexes {
		if i < len(state.missing) {
			kept = append(kept, state.missing[i])
		}
	}
	state.missing = kept
}

// missingOf returns what each row lacked before the plugin or the graph writer filled it.
func (u *upsert) missingOf(stmt *gorm.Statement, list []reflect.Value) []missing {
	if u.insert == nil {
		return stateOf(stmt).missing
	}
	given := u.insert.Given()
	all := make([]missing, len(list))
	for i, row := range list {
		if u.insert.KeyGiven(i) {
			all[i] = missingKey
		} else {
			all[i] = missingIn(row, u.keys, missingKey)
		}
		for k := range u.columns {
			if given.Has(rows.Field(row, u.columns[k].Field.StructField.Index)) {
				if all[i] |= missingColumn; k == 0 {
					all[i] |= missingFirst
				}
			}
		}
	}
	return all
}

// conflictOf returns a statement's conflict clause. For MySQL's INSERT IGNORE and SQLite's INSERT
// OR IGNORE, it returns a clause with DoNothing.
func conflictOf(stmt *gorm.Statement) (on clause.OnConflict, ignore, ok bool) {
	if c, ok := stmt.Clauses["ON CONFLICT"]; ok {
		on, ok = c.Expression.(clause.OnConflict)
		return on, false, ok
	}
	insert, ok := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	ignore = ok && strings.Contains(strings.ToUpper(insert.Modifier), "IGNORE")
	return clause.OnConflict{DoNothing: true}, ignore, ignore
}
