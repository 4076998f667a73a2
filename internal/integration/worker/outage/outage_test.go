package outage

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// settings has the settings of one run.
type settings struct {
	window time.Duration // worker.Config.FenceWindow; 0: the default
	away   time.Duration // how long the database is
	limit  time.Duration // in which the first row must come after that
	wait   time.Duration // how long rows are waited for all the same, to say it
}

// Short enough for every run; busy machines have more than the five seconds.
var short = settings{window: 3 * time.Second, away: 5 * time.Second, limit: 20 * time.Second, wait: 20 * time.Second}

// A cell is one program and one outage.
type cell struct {
	database database
	how      how
	way      way
	pool     int
}

func (c cell) name() string {
	return fmt.Sprintf("%s/%s/%s/pool=%d", c.database.name, c.way.name, c.how.name, c.pool)
}

// few are the cells of a short run: each database, way, how and size of a pool that
// differs in kind.
func few() []cell {
	return []cell{
		{postgres, killed, gormUser, 5},
		{postgres, paused, pgxPool, 1},
		{mariadb, killed, gormDefault, 2},
		{mariadb, paused, databaseSQL, 5},
		{sqlite, locked, gormUser, 5},
	}
}

func all(t *testing.T) (cells []cell) {
	databases := []database{postgres, mariadb, sqlite}
	if _, ok := testserver.External(t, testserver.KindMariaDB); ok {
		databases = append(databases, mysql)
	}
	for _, d := range databases {
		for _, w := range []way{gormUser, gormDefault, databaseSQL, pgxPool} {
			for _, h := range d.hows {
				for _, pool := range []int{1, 2, 5, 50} {
					if w.only == "" || w.only == d.name {
						cells = append(cells, cell{d, h, w, pool})
					}
				}
			}
		}
	}
	return cells
}

// When the database is back, rows are written again within seconds, whatever waits.
func TestOutage(t *testing.T) {
	s, cells := short, few()
	if text := os.Getenv("SNOWKEY_OUTAGE"); text != "" {
		away, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("SNOWKEY_OUTAGE: %v", err)
		}
		s, cells = settings{away: away, limit: 5 * time.Second, wait: 150 * time.Second}, all(t)
	}
	if len(cells) == 0 {
		t.Error("no cell is run")
	}
	for _, c := range cells {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel() // they wait, mostly
			t.Logf("the database was away for %v, under %d requests: %v", s.away, clients, c.run(t, s))
		})
	}
}
