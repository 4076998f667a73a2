package gormplugin_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Event has no relations, for rows by the ten thousand.
type Event struct {
	ID   sqltype.ID
	Who  int
	What string `gorm:"size:20"`
}

// Four handles with a worker ID each, like four processes, and four goroutines on each. The
// primary key rejects duplicates, and the keys of the callers are compared with those in the
// table.
func TestManyWriters(t *testing.T) {
	const handles, each, batch = 4, 4, 100
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		rows := d.Size(2500, 500)
		first := databases.Handle(t, d)
		must(t, first.AutoMigrate(&Event{}))
		var all [handles * each][]Event
		var wg sync.WaitGroup
		for h := range handles {
			db := databases.Handle(t, d, fillPlugin(databases.Generator(t, int64(10+h)), &Event{}))
			for g := range each {
				who := h*each + g
				wg.Go(func() {
					for len(all[who]) < rows {
						events := make([]Event, batch)
						for i := range events {
							events[i] = Event{Who: who, What: "write"}
						}
						if err := db.Create(&events).Error; err != nil {
							t.Errorf("writer %d: %v", who, err)
							return
						}
						all[who] = append(all[who], events...)
					}
				})
			}
		}
		wg.Wait()
		var stored, held []sqltype.ID
		must(t, first.Model(&Event{}).Order("id").Pluck("id", &stored).Error)
		for _, e := range slices.Concat(all[:]...) {
			held = append(held, e.ID)
		}
		if slices.Sort(held); !slices.Equal(stored, held) || len(slices.Compact(held)) != len(stored) {
			t.Errorf("%d rows stored, %d keys handed out, or they differ, or some are there twice", len(stored), len(held))
		}
	})
}

func checkParts(t *testing.T, id sqltype.ID, worker int64) {
	t.Helper()
	p, err := core.Twitter().Decode(id.Int64())
	if err != nil || p.Worker != worker {
		t.Errorf("id %d is %+v, %v", id, p, err)
	}
}

func fillPlugin(src sqltype.Source, models ...any) *gormplugin.Plugin {
	return gormplugin.New(gormplugin.Config{Source: src, Named: map[string]sqltype.Source{"other": src}, Models: models})
}
