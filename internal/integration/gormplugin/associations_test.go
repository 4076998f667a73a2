package gormplugin

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/gormplugin/gen/model"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Person struct {
	ID    sqltype.ID
	Clubs []Club `gorm:"many2many:memberships"`
}

type Club struct {
	ID   sqltype.ID
	Name string
}

// Membership is a join table with a key of its own.
type Membership struct {
	ID       sqltype.ID
	PersonID sqltype.ID `gorm:"uniqueIndex:pair"`
	ClubID   sqltype.ID `gorm:"uniqueIndex:pair"`
}

// The key of a join table that is a model is filled like any other. Its references are not
// changed.
func TestJoinTableWithItsOwnKey(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		gen := databases.Generator(t, 1)
		db := databases.Handle(t, d, fillPlugin(gen))
		if err := errors.Join(db.SetupJoinTable(&Person{}, "Clubs", &Membership{}), db.AutoMigrate(&Person{}, &Club{}, &Membership{})); err != nil {
			t.Fatal(err)
		}
		persons := []Person{{Clubs: []Club{{Name: "a"}, {Name: "b"}}}, {Clubs: []Club{{Name: "c"}}}}
		if err := db.Create(&persons).Error; err != nil {
			t.Fatal(err)
		}
		if err := db.Model(&persons[0]).Association("Clubs").Append(&persons[1].Clubs[0]); err != nil {
			t.Fatal(err)
		}
		var rows []Membership
		if err := db.Find(&rows).Error; err != nil || len(rows) != 4 {
			t.Fatalf("%v, %v", rows, err)
		}
		pairs := map[[2]sqltype.ID]bool{}
		for _, r := range rows {
			checkParts(t, r.ID, 1)
			pairs[[2]sqltype.ID{r.PersonID, r.ClubID}] = true
		}
		for i, p := range persons {
			for _, c := range append(p.Clubs, persons[1].Clubs[0]) {
				if !pairs[[2]sqltype.ID{p.ID, c.ID}] {
					t.Errorf("person %d is not in the club %s", i, c.Name)
				}
			}
		}
	})
}

// Association mode gives keys to what is appended, and to nothing else.
func TestAssociationMode(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		gen := databases.Generator(t, 1)
		db := databases.Handle(t, d, fillPlugin(gen, model.All()...))
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
