package gormplugin

import (
	"fmt"
	"reflect"

	"gorm.io/gorm"
)

// A key that is another row's comes with that row, where gorm saves it first.

// comes reports whether each row that is without such a key belongs to a row that
// is saved with it.
func (t *target) comes(stmt *gorm.Statement, rows rowsOf) bool {
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	var fields [][]int
	for _, rel := range stmt.Schema.Relationships.BelongsTo {
		if written, said := columns[rel.Name]; said && !written || !said && restricted {
			continue
		}
		for _, ref := range rel.References {
			if ref.ForeignKey == t.field {
				fields = append(fields, rel.Field.StructField.Index)
			}
		}
	}
	for i := range rows.n {
		row := rows.at(i)
		if zero, err := t.isZero(row); err == nil && !zero {
			continue
		}
		if row.Kind() != reflect.Struct || !row.CanAddr() {
			return false
		}
		there := false
		for _, index := range fields {
			v := fieldAt(row, index)
			there = there || v.IsValid() && !v.IsZero() // as gorm asks
		}
		if !there {
			return false
		}
	}
	return true
}

// checkOwned comes when gorm has saved what the rows belong to, and before the rows
// themselves are written.
func (p *Plugin) checkOwned(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil || stmt.Schema == nil || !stmt.ReflectValue.IsValid() {
		return
	}
	pl := p.plan(stmt.Schema, stmt.Table)
	if err := p.checkLinks(stmt, true); err != nil {
		_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", stmt.Table, err))
		return
	}
	hooked := hasCreateHook(stmt)
	for i := range pl.targets {
		t := &pl.targets[i]
		if t.source != nil && (!hooked || !t.field.PrimaryKey) {
			continue
		}
		if missing, err := t.count(newRows(stmt.ReflectValue)); err != nil || missing > 0 {
			if err == nil {
				err = t.notSet()
			}
			_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", stmt.Table, err))
			return
		}
	}
}

// hasCreateHook reports whether the model has a hook that may set a key.
func hasCreateHook(stmt *gorm.Statement) bool {
	return stmt.Schema != nil && !stmt.SkipHooks && (stmt.Schema.BeforeSave || stmt.Schema.BeforeCreate)
}

// isOthers reports whether the field is the key of another row.
func (t *target) isOthers() bool { return t.field != nil && isForeignKey(t.field.Schema, t.field) }

func (t *target) notSet() error {
	if t.source != nil {
		return fmt.Errorf("%s was filled, and a hook has set it to zero", t.name)
	}
	if !t.isOthers() {
		return fmt.Errorf("%s is a part of the key that is not filled, and is not set: set it, or add snowflake to its gorm tag", t.name)
	}
	return fmt.Errorf("%s is the key of another row, and is not set", t.name)
}
