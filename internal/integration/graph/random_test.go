package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Team and Worker refer to each other, and workers to workers.
type Team struct {
	ID      sqltype.ID
	Name    string `gorm:"size:20"`
	LeadID  *sqltype.ID
	Lead    *Worker   `gorm:"foreignKey:LeadID"`
	Members []*Worker `gorm:"foreignKey:TeamID"`
}

type Worker struct {
	ID      sqltype.Key[Worker]
	Name    string `gorm:"size:20"`
	TeamID  *sqltype.ID
	Team    *Team
	BossID  sqltype.NullKey[Worker] `gorm:"type:bigint"`
	Boss    *Worker
	Reports []*Worker `gorm:"foreignKey:BossID"`
}

// Graphs at random, in tables that refer to each other, with constraints: as long as the rows are
// in no cycle, all are written, in whatever order, and from whichever side, they are given.
func TestGraphsAtRandom(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		dialect := d.Open(t)
		bare := dialect.Name() != "sqlite" // the others want a table before they refer to it
		db := graphHandle(t, dialect, nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: bare}, &Team{}, &Worker{})
		for _, sql := range []string{
			"ALTER TABLE teams ADD CONSTRAINT r1 FOREIGN KEY (lead_id) REFERENCES workers(id)",
			"ALTER TABLE workers ADD CONSTRAINT r2 FOREIGN KEY (team_id) REFERENCES teams(id)",
			"ALTER TABLE workers ADD CONSTRAINT r3 FOREIGN KEY (boss_id) REFERENCES workers(id)",
		} {
			if bare {
				if err := db.Exec(sql).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 1))
			teams, workers := make([]*Team, 1+r.IntN(6)), make([]*Worker, 1+r.IntN(12))
			for i := range teams {
				teams[i] = &Team{Name: fmt.Sprint("team ", i)}
			}
			boss, team, lead := map[*Worker]*Worker{}, map[*Worker]*Team{}, map[*Team]*Worker{}
			for i := range workers { // worker i refers to workers before i, and to teams up to i
				w := &Worker{Name: fmt.Sprint("worker ", i)}
				workers[i] = w
				if i > 0 && r.IntN(3) > 0 {
					if boss[w] = workers[r.IntN(i)]; r.IntN(2) == 0 {
						w.Boss = boss[w]
					} else {
						boss[w].Reports = append(boss[w].Reports, w)
					}
				}
				if team[w] = teams[r.IntN(min(i+1, len(teams)))]; r.IntN(2) == 0 {
					w.Team = team[w]
				} else {
					team[w].Members = append(team[w].Members, w)
				}
			}
			for i, m := range teams { // team i refers to workers before i: there is no cycle
				if i > 0 && r.IntN(3) > 0 {
					m.Lead = workers[r.IntN(min(i, len(workers)))]
					lead[m] = m.Lead
				}
			}
			r.Shuffle(len(teams), func(i, k int) { teams[i], teams[k] = teams[k], teams[i] })
			all := []any{teams, workers}
			if r.IntN(2) == 0 {
				all[0], all[1] = all[1], all[0]
			}
			if _, err := graph.CreateWith(t.Context(), db, all, graph.Config{BatchSize: r.IntN(4)}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			checkGraph(t, db, all[0])
			checkGraph(t, db, all[1])
			for _, w := range workers {
				var back Worker
				if err := db.Take(&back, w.ID).Error; err != nil || back.Name != w.Name || *back.TeamID != team[w].ID || boss[w] != nil && back.BossID.Key != boss[w].ID {
					t.Errorf("seed %d: %+v, %v, want %+v", seed, back, err, w)
				}
			}
			for _, m := range teams {
				var back Team
				if err := db.Take(&back, m.ID).Error; err != nil || (back.LeadID != nil) != (lead[m] != nil) || lead[m] != nil && int64(*back.LeadID) != int64(lead[m].ID) {
					t.Errorf("seed %d: %+v, %v, want %+v", seed, back, err, m)
				}
			}
			counts(t, db, "SELECT COUNT(*) FROM workers", nil, len(workers))
			for _, sql := range []string{"UPDATE teams SET lead_id = NULL", "UPDATE workers SET boss_id = NULL", "DELETE FROM workers", "DELETE FROM teams"} {
				if err := db.Exec(sql).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
