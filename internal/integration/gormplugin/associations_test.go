package gormplugin

import (
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
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
