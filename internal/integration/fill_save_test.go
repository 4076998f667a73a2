package integration

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gen"
	"gorm.io/gen/field"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
)

// Save and keys that are set beforehand, as documented.
func TestSaveWithKeysThatAreSet(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := migrated(t, d)
		tx, sent := record(db)
		if err := tx.Save(&Order{ID: 4711, Note: "new"}).Error; err != nil {
			t.Fatal(err)
		}
		if len(sent.sql) != 2 || !strings.HasPrefix(sent.sql[0], "UPDATE") || !strings.HasPrefix(sent.sql[1], "INSERT") {
			t.Errorf("Save of a new row with a key sent %q", sent.sql)
		}
		graph := Order{ID: 4712, Note: "graph", Lines: []Line{{Position: 1}}}
		if err := db.Save(&graph).Error; err == nil {
			t.Error("gorm now saves a new graph with a key: say so")
		}
		whole := Order{ID: 4712, Note: "graph", Lines: []Line{{Position: 1}}}
		if err := db.Create(&whole).Error; err != nil || whole.Lines[0].OrderID != 4712 {
			t.Errorf("%+v, %v", whole, err)
		}
		whole.Note, whole.Lines = "changed", append(whole.Lines, Line{Position: 2})
		if err := db.Save(&whole).Error; err != nil || whole.Lines[1].ID == 0 {
			t.Errorf("%+v, %v", whole, err)
		}
		var back Order
		if err := db.Preload("Lines").First(&back, 4712).Error; err != nil || back.Note != "changed" || len(back.Lines) != 2 {
			t.Errorf("%+v, %v", back, err)
		}
	})
}

// Models that gorm.io/gen generates from a table have a key that gorm takes for auto-increment,
// unless one of these options changes it.
func TestModelsGeneratedFromATable(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := migrated(t, d)
		integer := "int64"
		if d.name == "sqlite" {
			integer = "int32" // gen takes its integer for a small one: FieldType is needed there
		}
		g := gen.NewGenerator(gen.Config{OutPath: t.TempDir() + "/query"})
		g.UseDB(db)
		for name, option := range map[string]gen.ModelOpt{
			"type": gen.FieldType("id", "sqltype.ID"),
			"tag": gen.FieldGORMTag("id", func(tag field.GormTag) field.GormTag {
				return tag.Set("autoIncrement", "false").Set("snowflake", "other")
			}),
		} {
			made := g.GenerateModel("events", option)
			for _, f := range made.Fields {
				if f.ColumnName != "id" {
					continue
				}
				tag := f.GORMTag.Build()
				if !strings.Contains(tag, "primaryKey") || name == "type" && f.Type != "sqltype.ID" ||
					name == "tag" && (f.Type != integer || !strings.Contains(tag, "autoIncrement:false") || !strings.Contains(tag, "snowflake:other")) {
					t.Errorf("%s: %s %q", name, f.Type, tag)
				}
			}
		}
	})
}

// A model as it was generated, without a tag, filled because Tables names its column.
func TestGeneratedModelsByTable(t *testing.T) {
	type Event struct {
		ID   int64  `gorm:"column:id;primaryKey;autoIncrement:false"`
		What string `gorm:"column:what"`
	}
	onEvery(t, func(t *testing.T, d database) {
		migrated(t, d)
		src, err := core.New(core.Config{Worker: core.Fixed(3)})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		db := fillHandle(t, d, fillPlugin(src))
		events := []Event{{What: "a"}, {What: "b"}}
		if err := db.Create(&events).Error; err != nil || events[0].ID == 0 || events[0].ID == events[1].ID {
			t.Errorf("%+v, %v", events, err)
		}
		var n int64
		if err := errors.Join(db.Model(&Event{}).Where("id IN ?", []int64{events[0].ID, events[1].ID}).Count(&n).Error, gormplugin.Validate(db, &Event{})); err != nil || n != 2 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}
