package graph

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
)

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
