//go:build cluster

package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// TestActiveActiveLeases replicates the tables of the leases as well, against the advice of
// docs/generator.md: what it says of that is true.
func TestActiveActiveLeases(t *testing.T) {
	t.Run("without datacenters", withoutDatacenters)
	t.Run("the second is refused", func(t *testing.T) {
		sites := newSitesOfAll(t)
		_, err := generate(t, sites[0], sites[0].lease())
		must(t, err)
		caughtUp(t, sites)
		cfg := sites[1].lease()
		cfg.ClaimWait = -1
		var layout *worker.LayoutError
		if _, err := generate(t, sites[1], cfg); !errors.As(err, &layout) {
			t.Errorf("the second node: %v", err)
		}
	})
	t.Run("both while apart", func(t *testing.T) {
		sites := newSitesOfAll(t)
		for _, s := range sites {
			s.link.Cut()
		}
		for _, s := range sites {
			_, err := generate(t, s, s.lease())
			must(t, err)
		}
		mended(sites)
		for _, s := range sites {
			s.stops(t)
		}
	})
}

// newSitesOfAll starts nodes that replicate all tables, those of the leases among them.
func newSitesOfAll(t *testing.T) []*site {
	t.Helper()
	sites := newSites(t)
	for _, s := range sites {
		_, err := mustNew(sqlstore.New(s.db, sqlstore.Config{})).List(t.Context(), namespace)
		must(t, err)
		for _, statement := range []string{"DROP PUBLICATION shop", "CREATE PUBLICATION shop FOR ALL TABLES", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO replicator"} {
			s.exec(t, s.db, statement)
		}
	}
	subscribe(t, sites)
	caughtUp(t, sites)
	return sites
}

func mended(sites []*site) {
	for _, s := range sites {
		s.link.Mend()
	}
}

// generate opens a generator for the rest of the test.
func generate(t *testing.T, s *site, cfg worker.Config) (*worker.Generator, error) {
	t.Helper()
	gen, err := sqlstore.Open(t.Context(), s.db, sqlstore.Config{Lease: cfg})
	if err == nil {
		t.Cleanup(func() {
			ctx, done := ending()
			defer done()
			_ = gen.Close(ctx) // it may be lost
		})
	}
	return gen, err
}

// stops waits until the subscription of the site fails again and again by a conflict.
func (s *site) stops(t *testing.T) {
	t.Helper()
	_, before, _ := s.conflicts(t)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		conflicts, errs, kinds := s.conflicts(t)
		if conflicts > 0 || kinds == 0 && errs > before+3 { // more than connections that break
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s reports neither a conflict nor an error", s.sub)
		}
	}
}

// withoutDatacenters leases one worker ID on the first node, so that the second has none, and
// then on the second as well, when it does not see the renewals: ids are issued twice.
func withoutDatacenters(t *testing.T) {
	sites := newSitesOfAll(t)
	cfg := worker.Config{
		Namespace: namespace, Preferred: new(int64), RequirePreferred: true,
		FenceWindow: 2 * time.Second, RenewInterval: 500 * time.Millisecond, TTL: 3 * time.Second,
	}
	first, err := generate(t, sites[0], cfg)
	must(t, err)
	caughtUp(t, sites)
	once := cfg
	once.ClaimWait = -1
	if _, err := generate(t, sites[1], once); !errors.Is(err, worker.ErrNoWorkerID) {
		t.Fatalf("while the network is whole, the second node: %v", err)
	}
	for _, s := range sites {
		s.link.Cut()
	}
	second, err := generate(t, sites[1], cfg) // waits until the lease expires there
	must(t, err)
	if a, b := first.Worker(), second.Worker(); a != b {
		t.Fatalf("worker IDs %d and %d", a, b)
	}
	var ids tally
	var twice []int64
	for deadline := time.Now().Add(patience); len(twice) == 0; twice, _ = ids.twice() {
		if time.Now().After(deadline) {
			t.Fatal("no id was issued twice")
		}
		for range 1000 {
			for _, g := range []*worker.Generator{first, second} {
				id, err := g.Next(t.Context())
				if errors.Is(err, core.ErrFenced) {
					continue
				}
				must(t, err)
				ids.add([]int64{id})
			}
		}
	}
	t.Logf("%d ids were issued twice, such as %d", len(twice), twice[0])
	for _, s := range sites {
		s.exec(t, s.db, fmt.Sprintf("INSERT INTO orders VALUES (%d, 'one of two')", twice[0]))
	}
	mended(sites)
	for _, s := range sites {
		s.stops(t)
	}
}
