package gormplugin_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Each has a foreign key that the tag would fill if it were none.
type (
	Owner struct {
		ID       sqltype.ID
		Visitors []Visitor
	}
	Visitor struct {
		ID      sqltype.ID
		OwnerID int64 `gorm:"snowflake"`
		Owner   *Owner
		Guests  []Guest
	}
	Guest struct {
		ID        sqltype.ID
		VisitorID int64 `gorm:"snowflake"`
		Visitor   *Visitor
	}
)

// Goroutines that meet models for the first time, before gorm has parsed all their relations, do not
// take a foreign key for a column to fill.
func TestFirstParseInParallel(t *testing.T) {
	for range 400 {
		db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				var err error
				switch i % 3 {
				case 0:
					err = graph.Create(t.Context(), db, &Owner{Visitors: []Visitor{{Guests: []Guest{{}}}}})
				case 1:
					err = db.Create(&Visitor{Guests: []Guest{{}}}).Error
				case 2:
					err = graph.Create(t.Context(), db, &Guest{})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		guest, visitor := db.Create(&Guest{}), db.Create(&Visitor{})
		if err := errors.Join(guest.Error, visitor.Error); err != nil || guest.Statement.Vars[1] != int64(0) || visitor.Statement.Vars[1] != int64(0) {
			t.Fatalf("%v, %v, %v", guest.Statement.Vars, visitor.Statement.Vars, err)
		}
	}
}
