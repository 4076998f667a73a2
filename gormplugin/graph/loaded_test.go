package graph_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

// loadedParent writes a purchase with parents and children, and reads it back as a service
// would that keeps it for many requests.
func loadedParent(t *testing.T, db *gorm.DB) *Purchase {
	t.Helper()
	email := "x"
	old := &Purchase{Name: "old", Meta: map[string]int{"a": 1}, Buyer: &Buyer{Name: "b", Email: &email, Cards: []Card{{Name: "c"}}}, Shop: Shop{Name: "s"}}
	must(t, graph.Create(t.Context(), db, old))
	var loaded Purchase
	must(t, db.Preload("Buyer.Cards").Preload("Shop").Take(&loaded, old.ID).Error)
	return &loaded
}

// Goroutines create rows that share loaded ones: with the race detector, nothing of those is
// written, whether the creates succeed or fail.
func TestGoroutinesShareLoadedRows(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		parent := loadedParent(t, db)
		base := db.Session(&gorm.Session{})
		for _, fails := range []bool{false, true} {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					for range 5 {
						p := &Purchase{Name: "new", Parent: parent, Buyer: parent.Buyer, Wares: []Ware{{Purchase: parent}}}
						if fails {
							p.ID = parent.ID // it exists
						}
						if err := graph.Create(context.Background(), base, p); (err != nil) != fails {
							t.Errorf("fails %v: %v", fails, err)
						}
					}
				})
			}
			wg.Wait()
		}
	})
}

// A failed create keeps what others have changed in a loaded row meanwhile, and undoes the foreign
// keys that it has set.
func TestFailedCreateKeepsLoadedRows(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		parent := loadedParent(t, db)
		parent.BuyerID = nil // the create sets it
		seen, s := spyOn(db)
		s.at = func(_ int, what string) error {
			if strings.Contains(what, "INSERT") && strings.Contains(what, "wares") {
				if parent.BuyerID == nil || *parent.BuyerID != parent.Buyer.ID {
					t.Errorf("the foreign key is %v", parent.BuyerID)
				}
				parent.Name, parent.Buyer.Name, parent.Buyer.Cards[0].Name = "renamed", "renamed", "renamed"
				return errInjected
			}
			return nil
		}
		fresh := &Buyer{Name: "fresh"}
		p := &Purchase{Name: "new", Parent: parent, Buyer: fresh, Wares: []Ware{{Name: "i"}}}
		if err := graph.Create(t.Context(), seen, p); !errors.Is(err, errInjected) {
			t.Fatal(err)
		}
		if parent.Name != "renamed" || parent.Buyer.Name != "renamed" || parent.Buyer.Cards[0].Name != "renamed" || parent.BuyerID != nil {
			t.Errorf("the loaded rows: %+v, %+v", parent, parent.Buyer)
		}
		if p.ID != 0 || p.ParentID != nil || p.BuyerID != nil || fresh.ID != 0 || p.Wares[0].ID != 0 || p.Wares[0].PurchaseID != 0 {
			t.Errorf("the new rows: %+v, %+v", p, fresh)
		}
	})
}
