package gormplugin

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/upsert"
)

func (p *Plugin) fillStatement(stmt *gorm.Statement) error {
	list := rows.Of(stmt.ReflectValue)
	plan := p.Keys().Plan(stmt.Schema, stmt.Table)
	if err := checkLosses(stmt, plan, &list, rows.SelectedInCreate); err != nil {
		return err
	}
	columns, err := plan.Columns, cmp.Or(plan.Err, p.Keys().CheckStrict(stmt.Schema, stmt.Table))
	if err != nil || len(columns) == 0 {
		return err
	}
	if err := p.checkCollations(stmt, columns); err != nil {
		return err
	}
	if err := checkRows(stmt, &list); err != nil {
		return err
	}
	if err := checkLists(stmt, &list); err != nil {
		return err
	}
	if len(stmt.Selects)+len(stmt.Omits) > 0 {
		if columns, err = selectColumns(stmt, columns); err != nil {
			return err
		}
	}
	unused, err := fillRows(stmt, columns, &list)
	if err == nil && unused > 0 {
		err = dropRepeated(stmt, &list, unused)
	}
	return err
}

// selectColumns adds the columns to the statement's Select, if it has one. A key that Omit names
// is an error; another column that Omit names is not filled.
func selectColumns(stmt *gorm.Statement, columns []keys.Column) ([]keys.Column, error) {
	selected := rows.SelectedInCreate(stmt)
	kept := make([]keys.Column, 0, len(columns))
	var add []string
	for _, c := range columns {
		switch {
		case selected.Omits(c.DBName) && (c.Field == nil || c.Field.PrimaryKey):
			return nil, fmt.Errorf("%s is left out by Omit: the row would be written under another key", c.Name)
		case selected.Omits(c.DBName):
			continue
		case !selected.Has(c.DBName):
			add = append(add, c.DBName)
		}
		kept = append(kept, c)
	}
	if len(add) > 0 {
		stmt.Selects = slices.Concat(stmt.Selects, add) // a copy: the statement shares the slice with its handle
	}
	return kept, nil
}

// fillRows sets the columns in all rows. It asks each source once, before it changes the first
// row: if one fails, no row has a key. It returns how many ids are unused, because rows are the
// same struct.
func fillRows(stmt *gorm.Statement, columns []keys.Column, list *rows.Rows) (unused int, err error) {
	var reserved keys.Reservation
	missing := make([]int, len(columns))
	for i := range columns {
		c := &columns[i]
		n, err := c.Missing(list)
		if err != nil {
			return 0, err
		}
		if n > 0 && c.Source == nil {
			if !parentsSaved(stmt, c, list) && (c.IsForeign() || !hasCreateHook(stmt)) { // checkInsert looks again after the hooks
				return 0, c.ErrNotSet()
			}
			n = 0
		}
		missing[i] = n
		reserved.Need(c, n)
	}
	if err := reserved.Take(stmt.Context); err != nil {
		return 0, err
	}
	for i := range columns {
		c := &columns[i]
		ids := reserved.IDs(c, missing[i])
		upsert.Filled(stmt, c, ids, list.Len, hasCreateHook(stmt))
		left, err := c.Fill(stmt.Context, list, ids)
		if err != nil {
			return 0, err
		}
		unused = max(unused, left)
	}
	return unused, nil
}

// hasCreateHook reports whether the model has a hook that may set a key.
func hasCreateHook(stmt *gorm.Statement) bool {
	return stmt.Schema != nil && !stmt.SkipHooks && (stmt.Schema.BeforeSave || stmt.Schema.BeforeCreate)
}

// parentsSaved reports whether each row that lacks such a key belongs to a row that gorm saves
// with it, and whose key it gets.
func parentsSaved(stmt *gorm.Statement, c *keys.Column, list *rows.Rows) bool {
	selected := rows.SelectedInCreate(stmt)
	var parents []*schema.Relationship
	for _, rel := range stmt.Schema.Relationships.BelongsTo {
		for _, ref := range rel.References {
			if ref.ForeignKey == c.Field && selected.Has(rel.Name) {
				parents = append(parents, rel)
			}
		}
	}
	for i := range list.Len {
		row := list.At(i)
		if zero, err := c.IsZero(row); err == nil && !zero {
			continue
		}
		if row.Kind() != reflect.Struct || !row.CanAddr() || !slices.ContainsFunc(parents, func(rel *schema.Relationship) bool { return rows.Holds(row, rel) }) {
			return false
		}
	}
	return true
}

// dropRepeated removes structs that are in the statement more than once, as gorm does where
// their keys are set: an association may be shared. Without a conflict clause, a repeated struct
// is an error. So are rows that share what holds their key.
func dropRepeated(stmt *gorm.Statement, list *rows.Rows, unused int) error {
	if first := list.At(0); first.Kind() == reflect.Map {
		return fmt.Errorf("one map is given as more than one row, and each must have a key of its own: %w", gorm.ErrInvalidData)
	}
	_, conflicts := stmt.Clauses["ON CONFLICT"]
	seen := make(map[uintptr]int, list.Len)
	distinct := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(stmt.Schema.ModelType)), 0, list.Len)
	var kept []int
	for i := range list.Len {
		row := list.At(i).Addr()
		first, repeated := seen[row.Pointer()]
		switch {
		case !repeated:
			seen[row.Pointer()] = i
			distinct = reflect.Append(distinct, row.Convert(distinct.Type().Elem()))
			kept = append(kept, i)
		case !conflicts:
			return fmt.Errorf("row %d is the same struct as row %d, and cannot have a key of its own: %w", i, first, gorm.ErrInvalidData)
		}
	}
	if distinct.Len()+unused > list.Len {
		return fmt.Errorf("rows share the embedded struct that holds their key: %w", gorm.ErrInvalidData)
	}
	stmt.Dest, stmt.ReflectValue = distinct.Interface(), distinct
	upsert.Keep(stmt, kept)
	return nil
}
