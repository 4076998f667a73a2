package integration

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Crew has a key of any type, and a hook that moves its hands about.
type Crew[K any] struct {
	ID    K         `gorm:"primaryKey;autoIncrement:false;size:64;snowflake"`
	Wish  string    `gorm:"size:40"`
	Hands []Hand[K] `gorm:"foreignKey:CrewID"`
}

func (Crew[K]) TableName() string { return "crews" }

type Hand[K any] struct {
	ID     K         `gorm:"primaryKey;autoIncrement:false;size:64;snowflake"`
	Name   string    `gorm:"size:20"`
	CrewID K         `gorm:"size:64"`
	Tools  []Tool[K] `gorm:"foreignKey:HandID"`
}

func (Hand[K]) TableName() string { return "hands" }

type Tool[K any] struct {
	ID     sqltype.ID
	HandID *K `gorm:"size:64"`
}

func (Tool[K]) TableName() string { return "tools" }

func (c *Crew[K]) BeforeCreate(*gorm.DB) error { return c.obey("before") }
func (c *Crew[K]) AfterCreate(*gorm.DB) error  { return c.obey("after") }

func (c *Crew[K]) obey(when string) error {
	wish, ok := strings.CutPrefix(c.Wish, when+" ")
	if !ok {
		return nil
	}
	if strings.Contains(wish, "swap") {
		c.Hands[0], c.Hands[1] = c.Hands[1], c.Hands[0]
	}
	if strings.Contains(wish, "append") {
		c.Hands = append(c.Hands[:len(c.Hands):len(c.Hands)], Hand[K]{Name: "more"})
	}
	if strings.Contains(wish, "refuse") {
		return errHook
	}
	return nil
}

// Hooks moved rows, and then something fails: our keys and foreign keys are off
// wherever they are now, and the keys that the caller set are on their rows.
func TestGraphHookMovesKeysAndFails(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		hookMoves[sqltype.ID](t, d, 42)
		hookMoves[uint64](t, d, 42)
		hookMoves[string](t, d, "42")
		hookMoves[sqltype.NullID](t, d, sqltype.NullID{ID: 42, Valid: true})
		number, id := int64(42), sqltype.ID(42)
		hookMoves[*int64](t, d, &number)
		hookMoves[*sqltype.ID](t, d, &id)
	})
}

func hookMoves[K any](t *testing.T, d database, set K) {
	db := graphHandle(t, d.open(t), nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: true}, &Crew[K]{}, &Hand[K]{}, &Tool[K]{})
	defer func() {
		if err := db.Migrator().DropTable("tools", "hands", "crews"); err != nil {
			t.Error(err)
		}
	}()
	seen, s := spyOn(db)
	s.at = func(_ int, what string) error {
		if strings.HasPrefix(what, "INSERT") && strings.Contains(what, "tools") {
			return errInjected
		}
		return nil
	}
	var none K
	for _, wish := range []string{
		"none", "before swap", "before append", "before swap append", "before swap refuse", "before append refuse", "before swap append refuse",
		"after swap refuse", "after append refuse", "after swap append refuse",
	} {
		for _, parent := range []K{none, set} {
			what := fmt.Sprintf("%T: %s, parent %v", set, wish, parent)
			c := &Crew[K]{ID: parent, Wish: wish, Hands: []Hand[K]{{ID: set, Name: "set", Tools: make([]Tool[K], 1)}, {Name: "new", Tools: make([]Tool[K], 1)}, {Name: "last"}}}
			handle := seen
			if strings.HasPrefix(wish, "after") {
				handle = db // it comes to the hooks
			}
			if err := graph.Create(t.Context(), handle, c); !errors.Is(err, errInjected) && !errors.Is(err, errHook) {
				t.Fatalf("%s: %v", what, err)
			}
			if !reflect.DeepEqual(c.ID, parent) {
				t.Errorf("%s: the parent has %v", what, c.ID)
			}
			for i, h := range c.Hands {
				want := none
				if h.Name == "set" {
					want = set
				}
				if !reflect.DeepEqual(h.ID, want) || !reflect.DeepEqual(h.CrewID, none) {
					t.Errorf("%s: row %d, %s, has %v of %v", what, i, h.Name, h.ID, h.CrewID)
				}
				for _, tool := range h.Tools {
					if tool.ID != 0 || tool.HandID != nil {
						t.Errorf("%s: a tool of %s has %v of %v", what, h.Name, tool.ID, tool.HandID)
					}
				}
			}
		}
	}
}

// Outfit keeps its key and a foreign key in embedded structs behind pointers.
type Outfit struct {
	*Tagged
	Name   string `gorm:"size:20"`
	Pieces []Piece
}

type Tagged struct{ *Numbered }

type Numbered struct {
	ID string `gorm:"primaryKey;size:19;snowflake"`
}

type Piece struct {
	ID sqltype.ID
	*Worn
}

type Worn struct {
	OutfitID string `gorm:"size:19"`
	Times    int
}

// Unfit cannot refer to an outfit: base62 is no number.
type Unfit struct {
	*Coded
	Faults []Fault
}

type Coded struct {
	ID string `gorm:"primaryKey;size:11;snowflake:base62"`
}

type Fault struct {
	ID      sqltype.ID
	UnfitID int64
}

// Embedded structs that were nil are so again, unless something is in them.
func TestGraphEmbeddedAreUnmade(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Outfit{}, &Piece{})
		seen, s := spyOn(db)
		build := func() *Outfit {
			return &Outfit{Pieces: []Piece{{}, {Worn: &Worn{Times: 3}}, {Worn: &Worn{}}}}
		}
		for _, failing := range []string{"BEGIN", "outfits", "pieces", "COMMIT"} {
			t.Run(failing, func(t *testing.T) {
				s.at = func(_ int, what string) error {
					if what == failing && failing != "COMMIT" || strings.HasPrefix(what, "INSERT") && strings.Contains(what, failing) {
						return errInjected
					}
					if what == failing {
						return stateError("40001")
					}
					return nil
				}
				o := build()
				if err := graph.Create(t.Context(), seen, o); err == nil || !reflect.DeepEqual(o, build()) {
					t.Errorf("%s: %v, %+v, %+v", failing, err, o, o.Tagged)
				}
			})
		}
		s.at = nil
		o := build()
		if err := graph.Create(t.Context(), seen, o); err != nil || o.ID == "" || o.Pieces[0].OutfitID != o.ID {
			t.Errorf("%v, %+v", err, o)
		}
		u := &Unfit{Faults: make([]Fault, 1)}
		if err := graph.Assign(t.Context(), db, u); err == nil || !reflect.DeepEqual(u, &Unfit{Faults: make([]Fault, 1)}) {
			t.Errorf("%v, %+v", err, u)
		}
	})
}
