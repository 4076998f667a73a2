package outage

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// settings are those of one run.
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
	var mu sync.Mutex
	found := map[string]figures{}
	t.Run("cells", func(t *testing.T) { // returns when all are done
		for _, c := range cells {
			t.Run(c.name(), func(t *testing.T) {
				t.Parallel() // they wait, mostly
				f := c.run(t, s)
				t.Log(f)
				mu.Lock()
				defer mu.Unlock()
				found[c.name()] = f
			})
		}
	})
	if len(found) == 0 && !t.Failed() {
		t.Error("no cell was run")
	}
	t.Logf("the database was away for %v, under %d requests; the first order after its return, the hundredth:\n%s", s.away, clients, table(cells, found))
}

// table has a row for each database, way and how, and a column for each size of a pool.
func table(cells []cell, found map[string]figures) string {
	var pools []int
	for _, c := range cells {
		pools = append(pools, c.pool)
	}
	slices.Sort(pools)
	pools = slices.Compact(pools)
	var b strings.Builder
	b.WriteString("| database | through | outage | ids went on for |")
	for _, pool := range pools {
		fmt.Fprintf(&b, " pool of %d |", pool)
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|", len(pools)) + "\n")
	longest, silent := figures{}, 0
	line := func(c cell) {
		rode, columns := []time.Duration{}, ""
		for _, pool := range pools {
			f, ok := found[cell{c.database, c.how, c.way, pool}.name()]
			if !ok {
				columns += " |"
				continue
			}
			rode = append(rode, f.rode)
			columns += " " + f.short() + " |"
			longest.first, longest.hundred = max(longest.first, f.first), max(longest.hundred, f.hundred)
			if f.hundred == 0 {
				silent++
			}
		}
		if len(rode) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %.1f–%.1f s |%s\n", c.database.name, c.way.about, c.how.name,
				slices.Min(rode).Seconds(), slices.Max(rode).Seconds(), columns)
		}
	}
	var seen []string
	for _, c := range cells {
		c.pool = 0
		if !slices.Contains(seen, c.name()) {
			seen = append(seen, c.name())
			line(c)
		}
	}
	fmt.Fprintf(&b, "the longest of %d: first order after %.2f s, the hundredth after %.2f s; too few orders in %d", len(found), longest.first.Seconds(), longest.hundred.Seconds(), silent)
	return b.String()
}
