package graph_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Many goroutines meet the models at the same time, by Create, by Assign and by
// gorm's create: no race, and no key twice.
func TestGraphsConcurrently(t *testing.T) {
	src := &gormtest.Counter{}
	db := gormtest.SQLite(t, gormplugin.Config{Source: src, Named: map[string]sqltype.Source{"nests": src}},
		&Nest{}, &Bird{}, &Twig{}, &Leaf{}, &Bark{}, &Order{}, &Line{})
	if pool, err := db.DB(); err != nil {
		t.Fatal(err)
	} else {
		pool.SetMaxOpenConns(1)
	}
	const writers, each = 8, 20
	keys := make([][]int64, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				twig, order := twig(), &Order{Lines: []Line{{}, {}}}
				twig.Leaves[1].ID = 0
				do := graph.Create
				if (w+i)%2 == 0 {
					do = graph.Assign
				}
				for _, err := range []error{do(context.Background(), db, twig), db.Create(order).Error} {
					if err != nil {
						t.Error(err)
						return
					}
				}
				keys[w] = append(keys[w], twig.ID.Int64(), twig.Parent.ID.Int64(), twig.Twigs[0].ID.Int64(), twig.Twigs[0].Twigs[0].ID.Int64(), twig.Nest.ID.Int64(),
					twig.Leaves[0].ID, twig.Leaves[1].ID, twig.Birds[0].ID.Int64(), twig.Birds[1].ID.Int64(), order.ID.Int64(), order.Lines[0].ID, order.Lines[1].ID)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(keys...)
	slices.Sort(all)
	if len(all) != writers*each*12 || len(slices.Compact(all)) != len(all) || all[0] == 0 || src.Last != int64(len(all)) {
		t.Errorf("%d keys, %d taken, the least %d, or some are there twice", len(all), src.Last, all[0])
	}
}
