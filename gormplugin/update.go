package gormplugin

import (
	"reflect"
	"slices"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// beforeUpdate runs for Save and Updates, before gorm saves the associations of an UPDATE.
func (p *Plugin) beforeUpdate(db *gorm.DB) {
	if !isOfModel(db) {
		return
	}
	stmt := db.Statement
	list := rows.Of(stmt.ReflectValue)
	err := checkLosses(stmt, p.Keys().Plan(stmt.Schema, stmt.Table), &list, rows.SelectedInUpdate)
	if err == nil {
		err = p.checkKeyUpdate(stmt)
	}
	if err != nil {
		addError(db, err)
		return
	}
	p.omitUnread(stmt)
}

// checkUpdate runs when gorm has saved what the rows of an UPDATE belong to.
func (p *Plugin) checkUpdate(db *gorm.DB) {
	if isOfModel(db) {
		list := rows.Of(db.Statement.ReflectValue)
		addError(db, p.checkLinks(db.Statement, &list, rows.SelectedInUpdate))
	}
}

// checkKeyUpdate refuses Updates with a map that sets a key to zero.
func (p *Plugin) checkKeyUpdate(stmt *gorm.Statement) error {
	dest := rows.Indirect(reflect.ValueOf(stmt.Dest))
	if !dest.IsValid() || dest.Type() != reflect.TypeFor[map[string]any]() {
		return nil
	}
	parts, _ := p.Keys().Upserted(stmt.Schema, stmt.Table)
	selected := rows.SelectedInUpdate(stmt)
	for k := range parts {
		if parts[k].Source == nil || !selected.Has(parts[k].DBName) {
			continue
		}
		if err := parts[k].CheckMapUpdate(dest.Interface().(map[string]any)); err != nil {
			return err
		}
	}
	return nil
}

// omitUnread leaves filled columns that are zero out of a Save's UPDATE: a zero means that the
// column was not read.
func (p *Plugin) omitUnread(stmt *gorm.Statement) {
	row := rows.Indirect(reflect.ValueOf(stmt.Dest)) // ReflectValue may be what Model was given
	if !slices.Contains(stmt.Selects, "*") || !row.IsValid() || row.Type() != stmt.Schema.ModelType {
		return
	}
	if !row.CanAddr() {
		given := row
		row = reflect.New(given.Type()).Elem()
		row.Set(given)
	}
	_, columns := p.Keys().Upserted(stmt.Schema, stmt.Table)
	for k := range columns {
		if zero, err := columns[k].IsZero(row); zero && err == nil {
			stmt.Omits = append(slices.Clip(stmt.Omits), columns[k].DBName)
		}
	}
}
