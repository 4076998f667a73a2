package gormplugin_test

import (
	"context"
	"reflect"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type benchRow struct {
	ID   sqltype.ID
	Name string
	Sum  int64
}

// benchSource costs next to nothing, so that what is measured is the plugin.
type benchSource struct{ last int64 }

func (s *benchSource) Next(context.Context) (int64, error) { s.last++; return s.last, nil }

func (s *benchSource) Fill(_ context.Context, ids []int64) error {
	for i := range ids {
		s.last++
		ids[i] = s.last
	}
	return nil
}

// fillOnly returns what fills rows, as gorm would call it in a create, and nothing else.
func fillOnly(tb testing.TB, rows any) func() error {
	tb.Helper()
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	gormtest.Use(tb, db, gormplugin.Config{Source: &benchSource{}})
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
			if err := fill(); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(10), allocs(10_000); many > few {
		t.Errorf("%v allocations for 10 rows, %v for 10,000", few, many)
	}
}
