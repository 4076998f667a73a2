package gormplugin_test

import (
	"reflect"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type benchRow struct {
	ID   sqltype.ID
	Name string
	Sum  int64
}

// fillOnly returns what fills rows, as gorm would call it in a create, and nothing else.
func fillOnly(tb testing.TB, rows any) func() error {
	tb.Helper()
	db := gormtest.Dry(tb, gormplugin.Config{Source: &gormtest.Counter{}})
	tx := db.Session(&gorm.Session{}).Model(rows)
	if err := tx.Statement.Parse(rows); err != nil {
		tb.Fatal(err)
	}
	tx.Statement.Dest = rows
	tx.Statement.ReflectValue = reflect.ValueOf(rows).Elem()
	fill := db.Callback().Create().Get("snowkey:fill")
	return func() error {
		fill(tx)
		return tx.Error
	}
}

// A batch costs the plugin a few allocations, however many rows it has.
func TestFillAllocatesNothingPerRow(t *testing.T) {
	allocs := func(n int) float64 {
		rows := make([]benchRow, n)
		fill := fillOnly(t, &rows)
		return testing.AllocsPerRun(20, func() {
			clear(rows)
			must(t, fill())
		})
	}
	if few, many := allocs(10), allocs(10_000); many > few {
		t.Errorf("%v allocations for 10 rows, %v for 10,000", few, many)
	}
}
