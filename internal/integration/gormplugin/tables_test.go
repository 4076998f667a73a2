package gormplugin

import (
	"errors"
	"slices"
	"testing"

	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
)

// Generated is a model as gorm.io/gen writes it, which cannot be tagged. GeneratedRow is a struct for
// some of its columns.
type (
	Generated struct {
		ID    int64  `gorm:"column:id;primaryKey"`
		Name  string `gorm:"column:name;size:20;uniqueIndex"`
		Count int    `gorm:"column:count"`
	}
	GeneratedRow struct {
		ID   uint64
		Name string
	}
)

// Config.Tables fills the key of a model without tags, of other structs for its table, and of maps.
func TestTablesOfGeneratedModels(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		gen := databases.Generator(t, 7)
		tables := map[string]gormplugin.Table{"generateds": {Column: "id"}}
		db := databases.Handle(t, d, gormplugin.New(gormplugin.Config{Source: gen, Tables: tables, Models: []any{&Generated{}}}))
		if err := errors.Join(db.Migrator().DropTable(&Generated{}), db.AutoMigrate(&Generated{})); err != nil {
			t.Fatal(err)
		}
		one := Generated{Name: "one"}
		list := []*Generated{{Name: "a"}, {ID: 7, Name: "b"}, {Name: "c"}}
		rows := []GeneratedRow{{Name: "x"}, {Name: "y"}}
		mapped, maps := map[string]any{"name": "m"}, []map[string]any{{"name": "n"}, {"name": "o"}}
		if err := errors.Join(
			db.Create(&one).Error, db.Create(&list).Error, db.Table("generateds").Create(&rows).Error,
			db.Model(&Generated{}).Create(mapped).Error, db.Table("generateds").Create(maps).Error,
		); err != nil {
			t.Fatal(err)
		}
		want := map[string]int64{"one": one.ID, "a": list[0].ID, "b": 7, "c": list[2].ID, "x": int64(rows[0].ID), "y": int64(rows[1].ID)}
		for _, m := range append(maps, mapped) {
			want[m["name"].(string)], _ = m["id"].(int64)
		}
		check := func(what string) {
			t.Helper()
			var stored []Generated
			if err := db.Find(&stored).Error; err != nil || len(stored) != len(want) {
				t.Errorf("%s: %d rows, %v", what, len(stored), err)
			}
			for _, row := range stored {
				if row.ID != want[row.Name] || row.ID != 7 && row.ID>>12&1023 != 7 { // the worker ID
					t.Errorf("%s: the row %+v, the struct has %d", what, row, want[row.Name])
				}
			}
		}
		check("Create")
		byName := []clause.Column{{Name: "name"}}
		for what, on := range map[string]clause.OnConflict{
			"DoNothing": {DoNothing: true}, "DoNothing(name)": {Columns: byName, DoNothing: true}, "UpdateAll(name)": {Columns: byName, UpdateAll: true},
			"DoUpdates(name)": {Columns: byName, DoUpdates: clause.AssignmentColumns([]string{"count"})},
			"DoUpdates where": {Columns: byName, DoUpdates: clause.AssignmentColumns([]string{"count"}), Where: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "1 = 0"}}}},
		} {
			list := []Generated{{Name: "a", Count: 3}, {Name: "new " + what}, {Name: "one"}}
			if err := db.Clauses(on).Create(&list).Error; err != nil || list[0].ID != want["a"] || list[2].ID != one.ID {
				t.Errorf("%s: %+v, %v", what, list, err)
			}
			want[list[1].Name] = list[1].ID
			check(what)
		}
		var ids []int64
		if err := db.Model(&Generated{}).Pluck("id", &ids).Error; err != nil || slices.Contains(ids, 0) {
			t.Errorf("%d, %v", ids, err)
		}
	})
}
