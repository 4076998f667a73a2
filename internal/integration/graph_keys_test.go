package integration

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Crate and its Bottles: what collides is moved, and their keys stand behind pointers.
type Crate struct {
	ID      sqltype.ID
	Bottles []*Bottle
}

type Bottle struct {
	ID      *string `gorm:"primaryKey;size:20"`
	CrateID sqltype.ID
}

// Rows of one key are one row, wherever the key stands.
func TestGraphSameKeyBehindPointers(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Crate{}, &Bottle{})
		a, b, c := "5", "5", "6"
		crate := &Crate{Bottles: []*Bottle{{ID: &a}, {ID: &b}, {ID: &c}}}
		if err := gormplugin.Create(t.Context(), db, crate); err != nil {
			t.Fatal(err)
		}
		var n int64
		if err := db.Model(&Bottle{}).Where("crate_id = ?", crate.ID).Count(&n).Error; err != nil || n != 2 {
			t.Errorf("%d bottles, %v", n, err)
		}
	})
}
