package gormplugin

import "gorm.io/gorm"

// freshKey is where a statement keeps which of its rows were without a key.
const freshKey = "snowkey:fresh"

// noteFresh remembers which rows are without a key, if that will matter. It runs
// before they are filled.
func (p *Plugin) noteFresh(db *gorm.DB) {
	stmt := db.Statement
	stmt.Settings.Delete(freshKey)
	if _, conflict := stmt.Clauses["ON CONFLICT"]; !conflict || db.Error != nil || stmt.Schema == nil || chainOf(stmt) != nil {
		return
	}
	keys := p.filledKeys(stmt.Schema)
	rows := structRows(stmt)
	if len(keys) == 0 || len(rows) == 0 {
		return
	}
	fresh := make([]bool, len(rows))
	for i, row := range rows {
		for k := range keys {
			zero, err := keys[k].lacks(row)
			fresh[i] = fresh[i] || zero && err == nil // fill tells the error
		}
	}
	stmt.Settings.Store(freshKey, fresh)
}

// freshOf is what was noted, by the places of the rows.
func freshOf(stmt *gorm.Statement) []bool {
	noted, _ := stmt.Settings.Load(freshKey)
	fresh, _ := noted.([]bool)
	return fresh
}

// freshRows says which of the rows were without a key.
func (u *upsert) freshRows(stmt *gorm.Statement) []bool {
	c := chainOf(stmt)
	if c == nil {
		return freshOf(stmt)
	}
	fresh := make([]bool, len(c.rows))
	for i, n := range c.rows {
		fresh[i] = n.fresh
	}
	return fresh
}
