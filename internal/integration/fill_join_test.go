package integration

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/gen/model"
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
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		db := fillHandle(t, d, fillPlugin(gen))
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

// A conflict neither changes an existing row nor its key.
func TestConflicts(t *testing.T) {
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
		docs := docsOf("there", 2)
		if err := db.Create(&docs).Error; err != nil {
			t.Fatal(err)
		}
		number := clause.OnConflict{Columns: []clause.Column{{Name: "number"}}, DoUpdates: clause.AssignmentColumns([]string{"name"})}
		for name, tx := range map[string]*gorm.DB{
			"DoNothing": db.Clauses(clause.OnConflict{DoNothing: true}),
			"DoUpdates": db.Clauses(number),
		} {
			mixed := []Doc{{Name: name, Number: docs[0].Number}, {Name: name + ", new"}}
			if err := tx.Create(&mixed).Error; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			var back Doc
			if err := db.First(&back, "number = ?", docs[0].Number).Error; err != nil || back.ID != docs[0].ID {
				t.Errorf("%s: the row %d became %d, %v", name, docs[0].ID, back.ID, err)
			}
			var added Doc
			if err := db.First(&added, "name = ?", name+", new").Error; err != nil || added.ID != mixed[1].ID || added.Number != mixed[1].Number {
				t.Errorf("%s: %+v is stored as %+v, %v", name, mixed[1], added, err)
			}
		}
		var n int64
		if err := db.Model(&Doc{}).Count(&n).Error; err != nil || n != 4 {
			t.Errorf("%d rows, want 4, %v", n, err)
		}
	})
}

// Many goroutines create graphs on a new handle, so that all of them parse the models for the
// first time.
func TestConcurrentGraphsOnOneHandle(t *testing.T) {
	const writers, graphs = 8, 12
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		if err := fillHandle(t, d).AutoMigrate(model.All()...); err != nil {
			t.Fatal(err)
		}
		db := fillHandle(t, d, fillPlugin(gen))
		var mu sync.Mutex
		held := map[sqltype.ID]string{}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for g := range graphs {
					docs := docsOf(fmt.Sprintf("%d.%d", w, g), 3)
					for i := range docs {
						docs[i].Notes = []model.Note{{Text: docs[i].Name}, {Text: docs[i].Name}}
					}
					if err := db.Create(&docs).Error; err != nil {
						t.Errorf("writer %d: %v", w, err)
						return
					}
					mu.Lock()
					for _, doc := range docs {
						if other, twice := held[doc.ID]; twice {
							t.Errorf("%s and %s have one key", doc.Name, other)
						}
						held[doc.ID] = doc.Name
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		var docs []Doc
		if err := db.Preload("Notes").Find(&docs).Error; err != nil || len(docs) != writers*graphs*3 {
			t.Fatalf("%d rows, want %d, %v", len(docs), writers*graphs*3, err)
		}
		for _, doc := range docs {
			if held[doc.ID] != doc.Name || len(doc.Notes) != 2 || doc.Notes[0].Text != doc.Name || doc.Notes[1].Text != doc.Name {
				t.Errorf("%d is stored as %+v and held as %s", doc.ID, doc, held[doc.ID])
			}
		}
	})
}
