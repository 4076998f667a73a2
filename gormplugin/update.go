package gormplugin

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
)

// What the plugin does for Save, Updates, and what association mode appends.

// beforeUpdate runs before gorm saves the associations of an UPDATE.
func (p *Plugin) beforeUpdate(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil || stmt.Schema == nil || !stmt.ReflectValue.IsValid() {
		return
	}
	err := checkTexts(stmt, p.plan(stmt.Schema, stmt.Table), newRows(stmt.ReflectValue), false)
	if err == nil {
		err = p.checkKeyUpdate(stmt)
	}
	if err != nil {
		_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", stmt.Table, err))
		return
	}
	p.keepUnread(stmt)
}

// checkUpdate runs when gorm has saved what the rows of an UPDATE belong to.
func (p *Plugin) checkUpdate(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil || stmt.Schema == nil || !stmt.ReflectValue.IsValid() {
		return
	}
	if err := p.checkLinks(stmt, false); err != nil {
		_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", stmt.Table, err))
	}
}

// checkKeyUpdate refuses Updates with a map that sets a key to zero.
func (p *Plugin) checkKeyUpdate(stmt *gorm.Statement) error {
	dest := indirect(reflect.ValueOf(stmt.Dest))
	if !dest.IsValid() || dest.Type() != reflect.TypeFor[map[string]any]() {
		return nil
	}
	keys, _ := p.followed(stmt)
	columns, restricted := stmt.SelectAndOmitColumns(false, true)
	for k := range keys {
		written, said := columns[keys[k].column]
		if keys[k].source == nil || said && !written || !said && restricted {
			continue
		}
		if err := keys[k].checkMapUpdate(dest.Interface().(map[string]any)); err != nil {
			return err
		}
	}
	return nil
}

// keepUnread leaves filled columns that are zero out of a Save's UPDATE: a zero means that the
// column was not read.
func (p *Plugin) keepUnread(stmt *gorm.Statement) {
	row := indirect(reflect.ValueOf(stmt.Dest)) // ReflectValue may be what Model was given
	if !slices.Contains(stmt.Selects, "*") || !row.IsValid() || row.Type() != stmt.Schema.ModelType {
		return
	}
	if !row.CanAddr() {
		given := row
		row = reflect.New(given.Type()).Elem()
		row.Set(given)
	}
	_, columns := p.followed(stmt)
	for k := range columns {
		if zero, err := columns[k].lacks(row); zero && err == nil {
			stmt.Omits = append(slices.Clip(stmt.Omits), columns[k].column)
		}
	}
}
