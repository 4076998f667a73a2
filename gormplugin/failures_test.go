package gormplugin_test

import (
	"context"
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Bundle struct {
		ID     sqltype.ID
		Owner  *Event
		Name   string `gorm:"size:20;uniqueIndex"`
		Strips []Strip

		OwnerID sqltype.ID
	}
	Strip struct {
		ID       sqltype.ID
		BundleID sqltype.ID
		Text     string `gorm:"size:20;check:text <> 'bad'"`
	}
)

var errHook = errors.New("refused by a hook")

func (p *Strip) AfterCreate(*gorm.DB) error {
	if p.Text == "refused" {
		return errHook
	}
	return nil
}

// A create that fails leaves no row, no key of its own and no transaction: the handle has one connection.
func TestFailuresLeaveNothing(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		gen := databases.Generator(t, 1)
		db := databases.Handle(t, d, gormplugin.New(gormplugin.Config{Source: gen}))
		must(t, db.AutoMigrate(&Event{}, &Bundle{}, &Strip{}))
		pool, err := db.DB()
		must(t, err)
		pool.SetMaxOpenConns(1)
		made := func(name, text string) *Bundle {
			return &Bundle{Name: name, Owner: &Event{What: "own"}, Strips: []Strip{{Text: "good"}, {Text: text}}}
		}
		must(t, db.Create(made("kept", "good")).Error)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []struct {
			name  string
			tx    *gorm.DB
			value any
		}{
			{"a duplicate", db, made("kept", "good")},
			{"a child that the database refuses", db, made("x", "bad")},
			{"a child that a hook refuses", db, made("x", "refused")},
			{"a list", db, []*Bundle{made("x", "good"), made("kept", "good")}},
			{"a nil element", db, []*Bundle{made("x", "good"), nil}},
			{"by value", db, *made("x", "good")},
			{"a nil map", db.Model(&Bundle{}), []map[string]any{{"name": "x"}, nil}},
			{"a context that is done", db.WithContext(canceled), made("x", "good")},
			{"a closed source", db, made("x", "good")},
			{"without a transaction", db.Session(&gorm.Session{SkipDefaultTransaction: true}), made("x", "good")},
		} {
			t.Run(c.name, func(t *testing.T) {
				if c.name == "a closed source" {
					gen.Close()
				}
				if err := c.tx.Create(c.value).Error; err == nil {
					t.Error("it was created")
				}
				if p, ok := c.value.(*Bundle); ok && (p.ID != 0 || p.Owner.ID != 0 || p.Strips[0].ID != 0 || p.Strips[1].ID != 0) {
					t.Errorf("keys are left: %+v, %+v", p, p.Owner)
				}
				if open := pool.Stats().InUse; open > 0 {
					t.Fatalf("%d connections are in use", open)
				}
				var events, bundles, strips int64
				if err := errors.Join(db.Model(&Event{}).Count(&events).Error, db.Model(&Bundle{}).Count(&bundles).Error, db.Model(&Strip{}).Count(&strips).Error); err != nil || events != 1 || bundles != 1 || strips != 2 {
					t.Errorf("%d events, %d bundles and %d strips, want 1, 1 and 2, %v", events, bundles, strips, err)
				}
			})
		}
	})
}
