package gormplugin_test

import (
	"slices"
	"sync"
	"testing"

	"gorm.io/gorm"

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

// eventHandle opens gorm with the plugin and a generator of its own.
func eventHandle(t *testing.T, d databases.Database, worker int64) *gorm.DB {
	t.Helper()
	return databases.Handle(t, d, fillPlugin(databases.Generator(t, worker), &Event{}))
}

// migrated returns a handle on a database that has the table of events.
func migrated(t *testing.T, d databases.Database) *gorm.DB {
	t.Helper()
	db := eventHandle(t, d, 1)
	if err := db.AutoMigrate(&Event{}); err != nil {
		t.Fatal(err)
	}
	return db
}

// Four handles with a worker ID each, like four processes, and four goroutines on each. The
// primary key rejects duplicates, and the keys of the callers are compared with those in the
// table.
func TestManyWriters(t *testing.T) {
	const handles, each, batch = 4, 4, 100
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		rows := d.Size(2500, 500)
		migrated(t, d)
		var all [handles * each][]Event
		var wg sync.WaitGroup
		var first *gorm.DB
		for h := range handles {
			db := eventHandle(t, d, int64(10+h))
			if first == nil {
				first = db
			}
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
		if !t.Failed() {
			checkStored(t, first, slices.Concat(all[:]...))
		}
	})
}

// checkStored compares the keys of the callers with those in the table.
func checkStored(t *testing.T, db *gorm.DB, events []Event) {
	t.Helper()
	var stored []sqltype.ID
	if err := db.Model(&Event{}).Order("id").Pluck("id", &stored).Error; err != nil {
		t.Fatal(err)
	}
	held := make([]sqltype.ID, len(events))
	for i, e := range events {
		held[i] = e.ID
	}
	slices.Sort(held)
	if !slices.Equal(stored, held) {
		t.Errorf("%d rows stored, %d keys handed out, or they differ", len(stored), len(held))
	}
	if len(slices.Compact(held)) != len(events) {
		t.Error("a key was handed out twice")
	}
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
