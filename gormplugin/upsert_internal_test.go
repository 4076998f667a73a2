package gormplugin

import (
	"slices"
	"sync"
	"testing"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// What a conflict clause names decides where rows may collide, and whose key a struct gets.
func TestConflictTarget(t *testing.T) {
	type model struct {
		Tenant int64 `gorm:"primaryKey"`
		ID     int64 `gorm:"primaryKey"`
		Ref    string
		Email  string
	}
	parse := func(value any) *schema.Schema {
		s, err := schema.Parse(value, new(sync.Map), schema.NamingStrategy{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	twoKeys, keyless := parse(&model{}), parse(&struct{ Ref, Email string }{})
	columns := func(names ...string) (list []clause.Column) {
		for _, name := range names {
			list = append(list, clause.Column{Name: name})
		}
		return list
	}
	email := clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "email > ''"}}}
	for name, c := range map[string]struct {
		model    *schema.Schema
		on       clause.OnConflict
		byKey    bool
		named    string // the field of the index that is named; empty: none
		declared bool   // the declared indexes count
		replaces bool
	}{
		"nothing is named, DoNothing":   {twoKeys, clause.OnConflict{DoNothing: true}, false, "", true, false},
		"nothing is named, DoUpdates":   {twoKeys, clause.OnConflict{DoUpdates: clause.Set{{}}}, false, "", true, true},
		"nothing is named, UpdateAll":   {twoKeys, clause.OnConflict{UpdateAll: true}, true, "", false, false},
		"a constraint":                  {twoKeys, clause.OnConflict{OnConstraint: "c", DoNothing: true}, false, "", true, true},
		"a constraint, UpdateAll":       {twoKeys, clause.OnConflict{OnConstraint: "c", UpdateAll: true}, false, "", true, true},
		"the key":                       {twoKeys, clause.OnConflict{Columns: columns("id", "tenant"), DoNothing: true}, true, "", false, false},
		"the key and more":              {twoKeys, clause.OnConflict{Columns: columns("id", "ref", "tenant")}, true, "", false, false},
		"a part of the key":             {twoKeys, clause.OnConflict{Columns: columns("id"), UpdateAll: true}, false, "ID", false, true},
		"another column":                {twoKeys, clause.OnConflict{Columns: columns("ref"), DoNothing: true, TargetWhere: email}, false, "Ref", false, true},
		"a column of a keyless model":   {keyless, clause.OnConflict{Columns: columns("ref"), DoNothing: true}, false, "Ref", false, true},
		"an unknown column, DoNothing":  {twoKeys, clause.OnConflict{Columns: columns("ref", "none"), DoNothing: true}, false, "", true, false},
		"an unknown column, and update": {twoKeys, clause.OnConflict{Columns: columns("none")}, false, "", true, true},
	} {
		declared := []keys.Unique{{Fields: []*schema.Field{c.model.FieldsByName["Email"]}}}
		for _, anyIndex := range []bool{false, true} {
			var want []string
			if c.named != "" {
				want = append(want, c.named)
			}
			if c.declared || anyIndex {
				want = append(want, "Email")
			}
			var got []string
			target := conflictTarget(c.model, c.on, declared, anyIndex)
			for _, index := range target.indexes {
				got = append(got, index.Fields[0].Name)
				if index.Fields[0].Name == c.named && len(index.Where) != len(c.on.TargetWhere.Exprs) {
					t.Errorf("%s: WHERE %v, want %v", name, index.Where, c.on.TargetWhere.Exprs)
				}
			}
			if target.byKey != c.byKey || target.replaces != c.replaces || !slices.Equal(got, want) {
				t.Errorf("%s, any index %t: %v, %+v, want %v, %+v", name, anyIndex, got, target, want, c)
			}
		}
	}
}
