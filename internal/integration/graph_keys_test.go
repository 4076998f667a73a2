package integration

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Crate and its Bottles have keys behind pointers, which change when a row collides.
type Crate struct {
	ID      sqltype.ID
	Bottles []*Bottle
}

type Bottle struct {
	ID      *string `gorm:"primaryKey;size:20;snowflake:-"`
	CrateID sqltype.ID
}

// Rows with the same key are one row, wherever the key is.
func TestGraphSameKeyBehindPointers(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Crate{}, &Bottle{})
		a, b, c := "5", "5", "6"
		crate := &Crate{Bottles: []*Bottle{{ID: &a}, {ID: &b}, {ID: &c}}}
		if err := graph.Create(t.Context(), db, crate); err != nil {
			t.Fatal(err)
		}
		var n int64
		if err := db.Model(&Bottle{}).Where("crate_id = ?", crate.ID).Count(&n).Error; err != nil || n != 2 {
			t.Errorf("%d bottles, %v", n, err)
		}
	})
}

// A nil context is context.Background, and a nil handle an error.
func TestGraphNilContext(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Crate{}, &Bottle{})
		made, assigned := &Crate{}, &Crate{}
		var none context.Context
		err := graph.Create(none, db, made)
		_, errWith := graph.CreateWith(none, db, &Crate{}, graph.Config{})
		if err := errors.Join(err, errWith, graph.Assign(none, db, assigned)); err != nil {
			t.Fatal(err)
		}
		var n int64
		if err := db.Model(&Crate{}).Count(&n).Error; err != nil || n != 2 || made.ID == 0 || assigned.ID == 0 {
			t.Errorf("%d rows, %d, %d, %v", n, made.ID, assigned.ID, err)
		}
		for what, err := range map[string]error{
			"Create":         graph.Create(t.Context(), nil, &Crate{}),
			"Assign":         graph.Assign(t.Context(), nil, &Crate{}),
			"Validate":       gormplugin.Validate(nil, &Crate{}),
			"Validate empty": gormplugin.Validate(&gorm.DB{}, &Crate{}),
			"Create empty":   graph.Create(t.Context(), &gorm.DB{Config: &gorm.Config{}}, &Crate{}),
		} {
			t.Run(what, func(t *testing.T) {
				if err == nil || !strings.Contains(err.Error(), "the *gorm.DB is nil") {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
	})
}
