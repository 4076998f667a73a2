package graph

import (
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
)

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
