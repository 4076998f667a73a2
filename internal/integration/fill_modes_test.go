package integration

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/gen/model"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Association mode gives keys to what is appended, and to nothing else.
func TestAssociationMode(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		db := fillHandle(t, d, fillPlugin(gen, model.All()...))
		if err := db.AutoMigrate(model.All()...); err != nil {
			t.Fatal(err)
		}
		doc := Doc{Name: "doc", Notes: []model.Note{{Text: "1"}}, Topics: []*model.Topic{{Name: "a"}}}
		if err := db.Create(&doc).Error; err != nil {
			t.Fatal(err)
		}
		first := doc.Notes[0].ID
		if err := errors.Join(
			db.Model(&doc).Association("Notes").Append([]model.Note{{Text: "2"}, {Text: "3"}}),
			db.Model(&doc).Association("Topics").Append(&model.Topic{Name: "b"}, doc.Topics[0]),
			db.Model(&doc).Association("Notes").Replace(&model.Note{ID: first, Text: "1"}, &model.Note{Text: "4"}),
			db.Model(&doc).Association("Topics").Replace([]*model.Topic{{Name: "c"}, {Name: "d"}}),
		); err != nil {
			t.Fatal(err)
		}
		var back Doc
		if err := db.Preload("Notes").Preload("Topics").First(&back, doc.ID).Error; err != nil {
			t.Fatal(err)
		}
		if len(back.Notes) != 2 || len(back.Topics) != 2 || !slices.ContainsFunc(back.Notes, func(n model.Note) bool { return n.ID == first }) {
			t.Errorf("%+v", back)
		}
		var notes []model.Note
		var topics []model.Topic
		if err := errors.Join(db.Find(&notes).Error, db.Find(&topics).Error); err != nil || len(notes) != 4 || len(topics) != 4 {
			t.Errorf("%d notes and %d topics, want 4 and 4, %v", len(notes), len(topics), err)
		}
		seen := map[int64]bool{}
		for _, n := range notes {
			id, err := strconv.ParseInt(n.ID, 10, 64)
			checkParts(t, sqltype.ID(id), 1)
			if seen[id] || err != nil {
				t.Errorf("the note %+v, %v", n, err)
			}
			seen[id] = true
		}
		for _, topic := range topics {
			checkParts(t, sqltype.ID(*topic.ID), 1)
		}
		var joins []map[string]any
		if err := db.Table("doc_topics").Find(&joins).Error; err != nil || len(joins) != 2 || len(joins[0]) != 2 {
			t.Errorf("join rows %v, %v", joins, err)
		}
	})
}

// Nothing is written where the source fails, and the database has no open transaction
// afterwards: the handle has one connection only.
func TestFailuresLeaveNothing(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		db := fillHandle(t, d, gormplugin.New(gormplugin.Config{Source: gen, Named: map[string]sqltype.Source{"other": gen}}))
		if err := db.AutoMigrate(model.All()...); err != nil {
			t.Fatal(err)
		}
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		pool.SetMaxOpenConns(1)
		kept := Doc{Name: "kept"}
		if err := db.Create(&kept).Error; err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]any{
			"a nil element": []*Doc{{Name: "x"}, nil},
			"a nil child":   &Doc{Name: "x", Topics: []*model.Topic{nil}},
			"[]any":         []any{&Doc{Name: "x"}},
			"by value":      Doc{Name: "x"},
			"a nil map":     []map[string]any{{"name": "x"}, nil},
		} {
			t.Run(name, func(t *testing.T) {
				if err := db.Model(&Doc{}).Create(value).Error; err == nil {
					t.Errorf("%s was created", name)
				}
			})
		}
		if err := db.Omit("ID").Create(&Doc{Name: "x"}).Error; err == nil {
			t.Error("Omit(ID) was created")
		}
		gen.Close()
		for _, tx := range []*gorm.DB{db, db.Session(&gorm.Session{SkipDefaultTransaction: true})} {
			graph := Doc{Name: "x", Notes: []model.Note{{Text: "x"}}}
			if err := tx.Create(&graph).Error; !errors.Is(err, core.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		}
		var docs, notes int64
		if err := errors.Join(db.Model(&Doc{}).Count(&docs).Error, db.Model(&model.Note{}).Count(&notes).Error); err != nil || docs != 1 || notes != 0 {
			t.Errorf("%d docs and %d notes, want 1 and 0, %v", docs, notes, err)
		}
	})
}
