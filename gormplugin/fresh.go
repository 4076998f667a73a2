package gormplugin

import (
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// freshKey is the setting of a statement for what its rows lacked.
const freshKey = "snowkey:fresh"

// lack says which values a row lacked before it was filled.
type lack uint8

const (
	lacksKey lack = 1 << iota
	lacksColumn
	lacksNumber // the first of the columns
)

// noteFresh stores which values the rows lack, if it is needed later. It runs before they are filled.
func (p *Plugin) noteFresh(db *gorm.DB) {
	stmt := db.Statement
	stmt.Settings.Delete(freshKey)
	stmt.Settings.Delete(keptKey)
	if _, _, conflict := conflictOf(stmt); !conflict || db.Error != nil || stmt.Schema == nil || chainOf(stmt) != nil {
		return
	}
	keys, columns := p.followed(stmt)
	rows := structRows(stmt)
	if len(keys) == 0 || len(rows) == 0 {
		return
	}
	fresh := make([]lack, len(rows))
	for i, row := range rows {
		fresh[i] = lackOf(row, keys, lacksKey) | lackOf(row, columns, lacksColumn) | lackOf(row, columns[:min(1, len(columns))], lacksNumber)
	}
	stmt.Settings.Store(freshKey, fresh)
}

func lackOf(row reflect.Value, targets []target, what lack) lack {
	for k := range targets {
		if zero, err := targets[k].lacks(row); zero && err == nil { // fill tells the error
			return what
		}
	}
	return 0
}

// freshOf is what was noted, by the places of the rows.
func freshOf(stmt *gorm.Statement) []lack {
	noted, _ := stmt.Settings.Load(freshKey)
	fresh, _ := noted.([]lack)
	return fresh
}

// freshRows returns what each row lacked.
func (u *upsert) freshRows(stmt *gorm.Statement) []lack {
	c := chainOf(stmt)
	if c == nil {
		return freshOf(stmt)
	}
	ours := &keySet{given: c.w.undo.given}
	fresh := make([]lack, len(c.rows))
	for i, n := range c.rows {
		if n.fresh || lackOf(n.row, u.keys, lacksKey) != 0 {
			fresh[i] = lacksKey
		}
		for k := range u.columns {
			if ours.has(fieldAt(n.row, u.columns[k].field.StructField.Index)) {
				if fresh[i] |= lacksColumn; k == 0 {
					fresh[i] |= lacksNumber
				}
			}
		}
	}
	return fresh
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
