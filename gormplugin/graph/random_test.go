package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Crew and Sailor refer to each other, and sailors to sailors.
type Crew struct {
	ID      sqltype.ID
	Name    string `gorm:"size:20"`
	LeadID  *sqltype.ID
	Lead    *Sailor   `gorm:"foreignKey:LeadID"`
	Members []*Sailor `gorm:"foreignKey:CrewID"`
}

type Sailor struct {
	ID      sqltype.Key[Sailor]
	Name    string `gorm:"size:20"`
	CrewID  *sqltype.ID
	Crew    *Crew
	BossID  sqltype.NullKey[Sailor] `gorm:"type:bigint"`
	Boss    *Sailor
	Reports []*Sailor `gorm:"foreignKey:BossID"`
}

// Graphs at random, in tables that refer to each other, with constraints: as long as the rows are
// in no cycle, all are written, in whatever order, and from whichever side, they are given.
func TestGraphsAtRandom(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		dialect := d.Open(t)
		bare := dialect.Name() != "sqlite" // the others want a table before they refer to it
		db := graphHandle(t, dialect, nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: bare}, &Crew{}, &Sailor{})
		for _, sql := range []string{
			"ALTER TABLE crews ADD CONSTRAINT r1 FOREIGN KEY (lead_id) REFERENCES sailors(id)",
			"ALTER TABLE sailors ADD CONSTRAINT r2 FOREIGN KEY (crew_id) REFERENCES crews(id)",
			"ALTER TABLE sailors ADD CONSTRAINT r3 FOREIGN KEY (boss_id) REFERENCES sailors(id)",
		} {
			if bare {
				must(t, db.Exec(sql).Error)
			}
		}
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 1))
			crews, sailors := make([]*Crew, 1+r.IntN(6)), make([]*Sailor, 1+r.IntN(12))
			for i := range crews {
				crews[i] = &Crew{Name: fmt.Sprint("crew ", i)}
			}
			boss, crew, lead := map[*Sailor]*Sailor{}, map[*Sailor]*Crew{}, map[*Crew]*Sailor{}
			for i := range sailors { // sailor i refers to sailors before i, and to crews up to i
				w := &Sailor{Name: fmt.Sprint("sailor ", i)}
				sailors[i] = w
				if i > 0 && r.IntN(3) > 0 {
					if boss[w] = sailors[r.IntN(i)]; r.IntN(2) == 0 {
						w.Boss = boss[w]
					} else {
						boss[w].Reports = append(boss[w].Reports, w)
					}
				}
				if crew[w] = crews[r.IntN(min(i+1, len(crews)))]; r.IntN(2) == 0 {
					w.Crew = crew[w]
				} else {
					crew[w].Members = append(crew[w].Members, w)
				}
			}
			for i, m := range crews { // crew i refers to sailors before i: there is no cycle
				if i > 0 && r.IntN(3) > 0 {
					m.Lead = sailors[r.IntN(min(i, len(sailors)))]
					lead[m] = m.Lead
				}
			}
			r.Shuffle(len(crews), func(i, k int) { crews[i], crews[k] = crews[k], crews[i] })
			all := []any{crews, sailors}
			if r.IntN(2) == 0 {
				all[0], all[1] = all[1], all[0]
			}
			if _, err := graph.CreateWith(t.Context(), db, all, graph.Config{BatchSize: r.IntN(4)}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			checkGraph(t, db, all[0])
			checkGraph(t, db, all[1])
			for _, w := range sailors {
				var back Sailor
				if err := db.Take(&back, w.ID).Error; err != nil || back.Name != w.Name || *back.CrewID != crew[w].ID || boss[w] != nil && back.BossID.Key != boss[w].ID {
					t.Errorf("seed %d: %+v, %v, want %+v", seed, back, err, w)
				}
			}
			for _, m := range crews {
				var back Crew
				if err := db.Take(&back, m.ID).Error; err != nil || (back.LeadID != nil) != (lead[m] != nil) || lead[m] != nil && int64(*back.LeadID) != int64(lead[m].ID) {
					t.Errorf("seed %d: %+v, %v, want %+v", seed, back, err, m)
				}
			}
			counts(t, db, "SELECT COUNT(*) FROM sailors", nil, len(sailors))
			for _, sql := range []string{"UPDATE crews SET lead_id = NULL", "UPDATE sailors SET boss_id = NULL", "DELETE FROM sailors", "DELETE FROM crews"} {
				must(t, db.Exec(sql).Error)
			}
		}
	})
}
