package graph

import (
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
)

// Term has the fields of a keyword under another name, as a package does that adds methods.
type Term Keyword

func TestUpsertOfConvertibleRows(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		old := &Keyword{Word: "red"}
		if err := db.Create(old).Error; err != nil {
			t.Fatal(err)
		}
		for name, on := range map[string]clause.OnConflict{
			"DoNothing": {DoNothing: true},
			"DoUpdates": {Columns: []clause.Column{{Name: "word"}}, DoUpdates: clause.AssignmentColumns([]string{"word"})},
		} {
			one, red, fresh := &Term{Word: "red"}, &Term{Word: "red"}, &Term{Word: "new " + name}
			several := []*Term{fresh, red}
			for _, v := range []any{one, &several} {
				if err := db.Model(&Keyword{}).Clauses(on).Create(v).Error; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			var row Keyword
			if err := db.Take(&row, "word = ?", fresh.Word).Error; err != nil || row.ID != fresh.ID || one.ID != old.ID || red.ID != old.ID {
				t.Errorf("%s: %v, the structs have %d, %d and %d, the database %d and %d", name, err, one.ID, red.ID, fresh.ID, old.ID, row.ID)
			}
		}
	})
}

// A row that collides in a hidden index is an error, whether others refer to it or not.
func TestUpsertByHiddenIndex(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		if err := db.Create(&Secret{Code: "x"}).Error; err != nil {
			t.Fatal(err)
		}
		nothing := db.Clauses(clause.OnConflict{DoNothing: true}).Session(&gorm.Session{})
		for what, create := range map[string]func(v any) error{
			"gorm": func(v any) error { return nothing.Create(v).Error },
			"ours": func(v any) error { return graph.Create(t.Context(), nothing, v) },
		} {
			for _, secrets := range [][]*Secret{{{Code: "x"}, {Code: what}}, {{Code: "x", Uses: []Use{{}}}}} {
				if err := create(secrets); err == nil || !strings.Contains(err.Error(), "not written") || secrets[0].ID != 0 {
					t.Errorf("%s: %+v, %v", what, secrets[0], err)
				}
			}
		}
		counts(t, db, "SELECT COUNT(*) FROM uses", nil, 0)
		// Found by its own key, it is there.
		set := &Secret{ID: 42, Code: "z"}
		for range 2 {
			if err := graph.Create(t.Context(), nothing, set); err != nil || set.ID != 42 {
				t.Errorf("%+v, %v", set, err)
			}
		}
	})
}

// How many statements an upsert takes where nothing has to be asked.
func TestUpsertStatements(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		seen, s := spyOn(db)
		fresh := []*User{{Email: "1@x"}, {Email: "2@x"}}
		on := clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}
		if err := graph.Create(t.Context(), seen.Clauses(on), fresh); err != nil {
			t.Fatal(err)
		}
		sent := verbs(s.reset())
		if want := []string{"BEGIN", "INSERT users", "COMMIT"}; db.Name() == "postgres" && !slices.Equal(sent, want) && len(sent) > 5 {
			t.Errorf("sent %v, want %v", sent, want)
		}
		// An upsert by the key asks nothing.
		if err := graph.Create(t.Context(), seen.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"visits"})}), fresh[0]); err != nil {
			t.Fatal(err)
		}
		if sent := verbs(s.reset()); db.Name() != "mysql" && !slices.Equal(sent, []string{"BEGIN", "INSERT users", "COMMIT"}) {
			t.Errorf("sent %v", sent)
		}
	})
}

// UpdateAll with nothing to update is DoNothing to gorm.
func TestUpsertOfNothing(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := graphHandle(t, d.Open(t), nil, nil, &Bare{})
		old := &Bare{Code: "a"}
		if err := db.Create(old).Error; err != nil {
			t.Fatal(err)
		}
		all := db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "code"}}, UpdateAll: true}).Session(&gorm.Session{})
		for what, create := range map[string]func(v any) error{
			"gorm": func(v any) error { return all.Create(v).Error },
			"ours": func(v any) error { return graph.Create(t.Context(), all, v) },
		} {
			rows := []*Bare{{Code: "a"}, {Code: "b " + what}}
			if err := create(rows); err != nil || rows[0].ID != old.ID || rows[1].ID == 0 || rows[1].ID == old.ID {
				t.Errorf("%s: %d and %d, want %d: %v", what, rows[0].ID, rows[1].ID, old.ID, err)
			}
		}
	})
}
