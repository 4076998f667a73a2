package upsert

import (
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// addReturning adds the key to what the statement returns. It must then also name the columns
// that gorm would have added.
func (u *upsert) addReturning(stmt *gorm.Statement) {
	var columns []clause.Column
	if c, ok := stmt.Clauses["RETURNING"]; ok {
		r, isReturning := c.Expression.(clause.Returning)
		if !isReturning || len(r.Columns) == 0 || r.Columns[0].Name == "*" {
			return // all columns
		}
		columns = slices.Clone(r.Columns)
	} else {
		for _, f := range stmt.Schema.FieldsWithDefaultDBValue {
			if f.Readable {
				columns = append(columns, clause.Column{Name: f.DBName})
			}
		}
	}
	for _, own := range u.all() {
		if !slices.ContainsFunc(columns, func(c clause.Column) bool { return c.Name == own.DBName }) {
			columns = append(columns, clause.Column{Name: own.DBName})
		}
	}
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: clause.Returning{Columns: columns}}
}

// removeReturning removes the key from what the statement returns: if rows are left out, gorm
// would set it in the wrong structs. It reports whether the statement still returns columns.
func (u *upsert) removeReturning(stmt *gorm.Statement) bool {
	c, ok := stmt.Clauses["RETURNING"]
	if !ok {
		return len(stmt.Schema.FieldsWithDefaultDBValue) > 0
	}
	r, ok := c.Expression.(clause.Returning)
	if !ok || len(r.Columns) == 0 {
		return true
	}
	columns := slices.DeleteFunc(slices.Clone(r.Columns), func(c clause.Column) bool {
		return slices.ContainsFunc(u.all(), func(own keys.Column) bool { return own.DBName == c.Name })
	})
	if len(columns) == 0 {
		delete(stmt.Clauses, "RETURNING")
		return len(stmt.Schema.FieldsWithDefaultDBValue) > 0
	}
	stmt.Clauses["RETURNING"] = clause.Clause{Name: "RETURNING", Expression: clause.Returning{Columns: columns}}
	return true
}
