package graph_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// User collides by its mail address, or by name and realm.
type User struct {
	ID      sqltype.Key[User]
	Email   string  `gorm:"size:60;uniqueIndex:user_email"`
	Realm   string  `gorm:"size:20;uniqueIndex:by_name"`
	Nick    *string `gorm:"size:20;uniqueIndex:by_name"`
	Visits  int
	Rank    int    `gorm:"default:5"`
	Token   string `gorm:"size:20;default:(upper('abc'))"` // made by the database
	Devices []Device
	Deleted gorm.DeletedAt
}

type Device struct {
	ID     sqltype.ID
	Name   string            `gorm:"size:20"`
	UserID sqltype.Key[User] `gorm:"not null"`
	User   *User
}

// Visit belongs to a user that is found or made.
type Visit struct {
	ID     sqltype.ID
	Name   string `gorm:"size:20"`
	UserID sqltype.Key[User]
	User   *User
	Tags   []Keyword `gorm:"many2many:visit_keywords"`
}

type Keyword struct {
	ID   sqltype.Key[Keyword]
	Word string `gorm:"size:20;unique"`
}

func (*User) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "user"} }

var upsertTables = []string{"visit_keywords", "visits", "keywords", "devices", "users"}

func onUsers(t *testing.T, test func(t *testing.T, db *gorm.DB)) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := graphHandle(t, d.Open(t), nil, nil, &User{}, &Device{}, &Keyword{}, &Visit{})
		test(t, db)
	})
}

// stored compares the keys in the structs with those in the table, and their
// devices'.
func stored(t *testing.T, db *gorm.DB, what string, users []*User) {
	t.Helper()
	for _, u := range users {
		var row User
		if err := db.Unscoped().Preload("Devices").Where("email = ?", u.Email).Take(&row).Error; err != nil {
			t.Errorf("%s: %s: %v", what, u.Email, err)
			continue
		}
		if row.ID != u.ID {
			t.Errorf("%s: %s: the struct has %d, the database %d", what, u.Email, u.ID, row.ID)
		}
		for _, d := range u.Devices {
			if d.UserID != row.ID || !slices.ContainsFunc(row.Devices, func(r Device) bool { return r.ID == d.ID && d.ID != 0 }) {
				t.Errorf("%s: device %+v of %d, the database has %+v", what, d, row.ID, row.Devices)
			}
		}
	}
}

// creates are gorm's Create and ours.
func creates(t *testing.T) map[string]func(db *gorm.DB, v any) error {
	return map[string]func(db *gorm.DB, v any) error{
		"gorm": func(db *gorm.DB, v any) error { return db.Create(v).Error },
		"ours": func(db *gorm.DB, v any) error { return graph.Create(t.Context(), db, v) },
	}
}

func TestUpsert(t *testing.T) {
	email := []clause.Column{{Name: "email"}}
	visits := clause.AssignmentColumns([]string{"visits"})
	few := clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "users.visits < 100"}}}
	cases := map[string]func(db *gorm.DB) *gorm.DB{
		"DoNothing":             func(db *gorm.DB) *gorm.DB { return db.Clauses(clause.OnConflict{Columns: email, DoNothing: true}) },
		"DoNothing, no columns": func(db *gorm.DB) *gorm.DB { return db.Clauses(clause.OnConflict{DoNothing: true}) },
		"DoUpdates":             func(db *gorm.DB) *gorm.DB { return db.Clauses(clause.OnConflict{Columns: email, DoUpdates: visits}) },
		"UpdateAll":             func(db *gorm.DB) *gorm.DB { return db.Clauses(clause.OnConflict{Columns: email, UpdateAll: true}) },
		"DoUpdates, Where": func(db *gorm.DB) *gorm.DB {
			return db.Clauses(clause.OnConflict{Columns: email, DoUpdates: visits, Where: few})
		},
		"DoUpdates, Returning": func(db *gorm.DB) *gorm.DB {
			return db.Clauses(clause.OnConflict{Columns: email, DoUpdates: visits}, clause.Returning{Columns: []clause.Column{{Name: "visits"}}})
		},
		"DoNothing, Returning": func(db *gorm.DB) *gorm.DB {
			return db.Clauses(clause.OnConflict{Columns: email, DoNothing: true}, clause.Returning{Columns: []clause.Column{{Name: "id"}}})
		},
		"Where, Returning": func(db *gorm.DB) *gorm.DB {
			return db.Clauses(clause.OnConflict{Columns: email, DoUpdates: visits, Where: few}, clause.Returning{Columns: []clause.Column{{Name: "id"}}})
		},
	}
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		for name, clauses := range cases {
			t.Run(name, func(t *testing.T) {
				if strings.Contains(name, "Where") && db.Name() == "mysql" {
					return // ON DUPLICATE KEY has none
				}
				for by, create := range creates(t) {
					for _, size := range []int{1, 5} {
						what := fmt.Sprintf("%s by %s, %d rows", name, by, size)
						empty(t, db, upsertTables...)
						old := []User{{Email: "old1@x", Visits: 1}, {Email: "old3@x", Visits: 200}}
						must(t, db.Create(&old).Error)
						if err := db.Delete(&old[1]).Error; err != nil { // softly: it is there
							t.Fatal(err)
						}
						users := []*User{
							{Email: "old1@x", Visits: 2, Devices: []Device{{Name: "d1"}, {Name: "d2"}}},
							{Email: "new1@x", Visits: 2, Devices: []Device{{Name: "d3"}}},
							{Email: "old3@x", Visits: 2, Devices: []Device{{Name: "d4"}}},
							{Email: "new2@x", Visits: 2, Rank: 9},
							{Email: "set@x", ID: 4711, Devices: []Device{{Name: "d5"}}},
						}[:size]
						var v any = users
						if size == 1 {
							v = users[0]
						}
						err := create(clauses(db), v)
						if skips := strings.HasSuffix(name, ", Returning") && name != "DoUpdates, Returning"; skips && size > 1 { // gorm would scan what is returned into other rows
							if err == nil || !strings.Contains(err.Error(), "RETURNING") || users[0].ID != 0 {
								t.Errorf("%s: %v", what, err)
							}
							continue
						}
						if err != nil {
							t.Errorf("%s: %v", what, err)
							continue
						}
						stored(t, db, what, users)
						if users[0].ID != old[0].ID {
							t.Errorf("%s: the key is %d, it was %d", what, users[0].ID, old[0].ID)
						}
						if size == 5 && users[2].ID != old[1].ID || size == 5 && users[4].ID != 4711 {
							t.Errorf("%s: the keys are %d and %d", what, users[2].ID, users[4].ID)
						}
						if size == 5 && by == "ours" && users[3].Rank != 9 {
							t.Errorf("%s: a default overwrote %+v", what, users[3])
						}
						if (name == "DoUpdates" || name == "UpdateAll") && slices.Contains(db.Callback().Create().Clauses, "RETURNING") && users[size-1].Token != "ABC" {
							t.Errorf("%s: what the database made was not returned: %+v", what, users[size-1])
						}
					}
				}
			})
		}
	})
}

// A key that the caller set gives way to that of the row.
func TestUpsertOfSetKey(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		old := User{Email: "a@x"}
		must(t, db.Create(&old).Error)
		on := clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"visits"})}
		for what, create := range creates(t) {
			u := []*User{{ID: 99, Email: "a@x", Visits: 3, Devices: []Device{{Name: what}}}}
			if err := create(db.Clauses(on), u); err != nil || u[0].ID != old.ID {
				t.Errorf("%s: %d, want %d: %v", what, u[0].ID, old.ID, err)
			}
			stored(t, db, what, u)
			// Without a known conflict, the caller's key stays.
			kept := &User{ID: 98, Email: "a@x"}
			if err := create(db.Clauses(clause.OnConflict{DoNothing: true}), kept); err != nil || kept.ID != 98 {
				t.Errorf("%s: %d, %v", what, kept.ID, err)
			}
		}
	})
}

// Collisions by several columns, with NULL among them, and by a collation.
func TestUpsertByOtherIndexes(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		old := []User{{Email: "a@x", Realm: "r", Nick: new("ann")}, {Email: "b@x", Realm: "r"}}
		must(t, db.Create(&old).Error)
		users := []*User{
			{Email: "c@x", Realm: "r", Nick: new("ann"), Devices: []Device{{Name: "d"}}}, // by realm and nick
			{Email: "d@x", Realm: "r"}, // NULL collides with nothing
			{Email: "b@x", Realm: "q", Nick: new("bob"), Devices: []Device{{Name: "e"}}}, // by email
		}
		must(t, graph.Create(t.Context(), db.Clauses(clause.OnConflict{DoNothing: true}), users))
		if users[0].ID != old[0].ID || users[2].ID != old[1].ID || users[0].Devices[0].UserID != old[0].ID {
			t.Errorf("the keys are %d and %d, want %d and %d", users[0].ID, users[2].ID, old[0].ID, old[1].ID)
		}
		stored(t, db, "NULL", users[1:2])
		if db.Name() == "mysql" { // its collation takes these for equal
			again := &User{Email: "A@X", Realm: "z", Nick: new("zed")}
			if err := graph.Create(t.Context(), db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}), again); err != nil || again.ID != old[0].ID {
				t.Errorf("%d, want %d: %v", again.ID, old[0].ID, err)
			}
		}
	})
}

// A struct that is listed twice is written once. For the rows after it, the source of their
// keys is still known.
func TestUpsertOfRepeatedRows(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		old := []*Keyword{{Word: "red"}, {Word: "set"}}
		must(t, db.Create(&old).Error)
		for by, create := range creates(t) {
			again, found, set := &Keyword{Word: "twice " + by}, &Keyword{Word: "red"}, &Keyword{ID: 77, Word: "set"}
			rows := []*Keyword{again, again, set, again, found}
			if err := create(db.Clauses(clause.OnConflict{DoNothing: true}), &rows); err != nil {
				t.Errorf("%s: %v", by, err)
			}
			var row Keyword
			if err := db.Take(&row, "word = ?", again.Word).Error; err != nil || row.ID != again.ID {
				t.Errorf("%s: the struct has %d, the database %d, %v", by, again.ID, row.ID, err)
			}
			if found.ID != old[0].ID || set.ID != 77 {
				t.Errorf("%s: %d and %d, want %d and 77", by, found.ID, set.ID, old[0].ID)
			}
		}
	})
}

// If a create fails after a row was found by its unique index, the row's key is restored too.
func TestGraphFailsAfterUpsert(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		must(t, db.Create(&User{Email: "a@x"}).Error)
		seen, s := spyOn(db)
		s.failAt("INTO "+quoted(db, "visits"), errInjected)
		build := func() *Visit { return &Visit{Name: "v", User: &User{Email: "a@x"}} }
		v := build()
		if err := graph.Create(t.Context(), seen, v); !errors.Is(err, errInjected) {
			t.Error(err)
		}
		if got, want := keysOf(v), keysOf(build()); got != want {
			t.Errorf("keys are left: %s, want %s", got, want)
		}
		// Also where the statement itself returned the key, to rows with a new and with a set one.
		s.failAt("INTO "+quoted(db, "devices"), errInjected)
		for name, on := range map[string]clause.OnConflict{
			"DoUpdates": {Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"visits"})},
			"DoNothing": {Columns: []clause.Column{{Name: "email"}}, DoNothing: true},
		} {
			users := func() []*User {
				return []*User{{Email: "a@x", Devices: []Device{{Name: "d"}}}, {Email: "new@x", Devices: []Device{{Name: "d"}}}, {ID: 5, Email: "set@x"}}
			}
			u := users()
			if err := graph.Create(t.Context(), seen.Clauses(on), u); !errors.Is(err, errInjected) {
				t.Errorf("%s: %v", name, err)
			}
			if got, want := keysOf(u), keysOf(users()); got != want {
				t.Errorf("%s: keys are left: %s, want %s", name, got, want)
			}
		}
	})
}
