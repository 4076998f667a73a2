package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Lodge has its key behind a pointer, whatever the type of it is.
type Lodge[K any] struct {
	ID    *K         `gorm:"primaryKey;autoIncrement:false;size:64;snowflake"`
	Town  string     `gorm:"size:20;uniqueIndex:lodge_town"`
	Rooms []Room[K]  `gorm:"foreignKey:LodgeID"`
	Doors []*Door[K] `gorm:"foreignKey:LodgeID"`
}

func (Lodge[K]) TableName() string { return "lodges" }

type Room[K any] struct {
	ID      *K `gorm:"primaryKey;autoIncrement:false;size:64;snowflake"`
	LodgeID *K `gorm:"size:64"`
}

func (Room[K]) TableName() string { return "rooms" }

type Door[K any] struct {
	ID      sqltype.ID
	LodgeID *K `gorm:"size:64"`
}

func (Door[K]) TableName() string { return "doors" }

// Keys behind pointers are undone as pointers: Create never writes through the caller's
// pointer, and after a failure the field has that pointer again.
func TestGraphPointerKeysFail(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		pointerKeys[sqltype.ID](t, d, 42)
		pointerKeys[int64](t, d, 42)
		pointerKeys[uint64](t, d, 42)
		pointerKeys[string](t, d, "42")
		pointerKeys[sqltype.NullID](t, d, sqltype.NullID{ID: 42, Valid: true})
	})
}

func pointerKeys[K comparable](t *testing.T, d database, set K) {
	db := graphHandle(t, d.open(t), nil, nil, &Lodge[K]{}, &Room[K]{}, &Door[K]{})
	defer func() {
		if err := db.Migrator().DropTable("doors", "rooms", "lodges"); err != nil {
			t.Error(err)
		}
	}()
	if err := db.Create(&Lodge[K]{Town: "x"}).Error; err != nil {
		t.Fatal(err)
	}
	seen, s := spyOn(db)
	fail := func(_ int, what string) error {
		if strings.HasPrefix(what, "INSERT") && strings.Contains(what, "doors") {
			return errInjected
		}
		return nil
	}
	town := []clause.Column{{Name: "town"}}
	for name, handle := range map[string]*gorm.DB{
		"insert":        seen,
		"nothing":       seen.Clauses(clause.OnConflict{DoNothing: true}),
		"named nothing": seen.Clauses(clause.OnConflict{Columns: town, DoNothing: true}),
		"DoUpdates":     seen.Clauses(clause.OnConflict{Columns: town, DoUpdates: clause.AssignmentColumns([]string{"town"})}),
	} {
		for what, key := range map[string]func() *K{
			"nil":  func() *K { return nil },
			"zero": func() *K { return new(K) },
			"set":  func() *K { v := set; return &v },
		} {
			if what == "set" && name == "nothing" {
				continue // a key that is set, and a conflict by any index: the row is unknown
			}
			what = fmt.Sprintf("%T: %s, %s", set, name, what)
			lodge := &Lodge[K]{ID: key(), Town: "x", Rooms: []Room[K]{{ID: new(K), LodgeID: new(K)}, {}}, Doors: []*Door[K]{{}}}
			if name == "insert" {
				lodge.Town = "y"
			}
			mine, room, parent := lodge.ID, lodge.Rooms[0].ID, lodge.Rooms[0].LodgeID
			var before K
			if mine != nil {
				before = *mine
			}
			for _, keep := range []bool{false, true} {
				s.at = fail
				if keep {
					s.at = nil
				}
				err := graph.Create(t.Context(), handle, lodge)
				if keep == (err != nil) || !keep && !errors.Is(err, errInjected) {
					t.Fatalf("%s: %v", what, err)
				}
				if !keep && (lodge.ID != mine || lodge.Rooms[0].ID != room || lodge.Rooms[0].LodgeID != parent || lodge.Rooms[1].ID != nil || lodge.Rooms[1].LodgeID != nil || lodge.Doors[0].LodgeID != nil || lodge.Doors[0].ID != 0) {
					t.Errorf("%s: keys are left: %+v %+v", what, lodge, lodge.Doors[0])
				}
				if mine != nil && *mine != before || *room != *new(K) || *parent != *new(K) {
					t.Errorf("%s: written through the caller's pointer", what)
				}
			}
			var back Lodge[K]
			if err := db.Preload("Doors").Take(&back, "town = ?", lodge.Town).Error; err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if *back.ID != *lodge.ID || len(back.Doors) != 1 || *lodge.Doors[0].LodgeID != *back.ID || *lodge.Rooms[0].ID == *lodge.Rooms[1].ID {
				t.Errorf("%s: the struct has %v, the database %v with %d doors", what, *lodge.ID, *back.ID, len(back.Doors))
			}
			empty(t, db, "doors", "rooms")
			if err := db.Exec("DELETE FROM lodges WHERE town = 'y'").Error; err != nil {
				t.Fatal(err)
			}
		}
	}
}
