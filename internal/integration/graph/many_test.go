package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

// Many goroutines on one handle: each graph whole, no key twice.
func TestGraphConcurrently(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		const writers, each = 8, 5
		base := db.Session(&gorm.Session{})
		all := make([][]*Purchase, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					p := everything(fmt.Sprint(w, "-", i))
					if err := graph.Create(context.Background(), base, p); err != nil {
						t.Error(err)
						return
					}
					all[w] = append(all[w], p)
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		checkGraph(t, db, slices.Concat(all...))
		rows := dump(t, db, graphTables...)
		if len(rows) != writers*each*24 {
			t.Errorf("%d rows, want %d", len(rows), writers*each*24)
		}
		if i := slices.IndexFunc(rows, func(r string) bool { return strings.Contains(r, "NOWHERE") }); i >= 0 {
			t.Error(rows[i])
		}
	})
}

// tally is a source that counts.
type tally struct {
	mu    sync.Mutex
	last  int64
	calls int
}

func (s *tally) Next(ctx context.Context) (int64, error) {
	ids := []int64{0}
	err := s.Fill(ctx, ids)
	return ids[0], err
}

func (s *tally) Fill(_ context.Context, ids []int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	for i := range ids {
		s.last++
		ids[i] = s.last
	}
	return nil
}
