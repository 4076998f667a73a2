package gormplugin

import (
	"fmt"
	"slices"

	"gorm.io/gorm"
)

// keepInStatement sees to it that the statement writes the columns that are to be
// filled, whatever was selected. A key left out on purpose is an error; another
// column left out on purpose is not filled.
func keepInStatement(stmt *gorm.Statement, targets []target) ([]target, error) {
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	kept := make([]target, 0, len(targets))
	var add []string
	for _, t := range targets {
		wanted, said := columns[t.column]
		switch {
		case said && !wanted && (t.field == nil || t.field.PrimaryKey):
			return nil, fmt.Errorf("%s is left out by Omit: the row would be written under another key", t.name)
		case said && !wanted:
			continue
		case !said && restricted:
			add = append(add, t.column)
		}
		kept = append(kept, t)
	}
	if len(add) > 0 {
		// On a copy: the statement shares the slice with the handle it came from.
		stmt.Selects = slices.Concat(stmt.Selects, add)
	}
	return kept, nil
}
