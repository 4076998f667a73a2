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

type (
	benchEmbedded struct {
		Base
		Name string
	}
	benchText struct {
		ID string `gorm:"primaryKey;snowflake:base62"`
	}
	benchPointer struct{ ID *sqltype.ID }
	benchTyped   struct {
		ID   sqltype.Key[benchTyped]
		Name string
		Sum  int64
	}
	benchNull struct {
		ID sqltype.NullKey[benchTyped] `gorm:"primaryKey;snowflake"`
	}
)

// BenchmarkFill is the cost of filling 1,000 rows, by the row.
func BenchmarkFill(b *testing.B) {
	const n = 1000
	structs, pointers, embedded := make([]benchRow, n), make([]*benchRow, n), make([]benchEmbedded, n)
	texts, keys := make([]benchText, n), make([]benchPointer, n)
	typed, nulls := make([]benchTyped, n), make([]benchNull, n)
	for i := range pointers {
		pointers[i] = &benchRow{}
	}
	b.Run("floor", func(b *testing.B) { // the source, and a look at each field and a set by reflection
		src, ids := &benchSource{}, make([]int64, n)
		v := reflect.ValueOf(&structs).Elem()
		for b.Loop() {
			clear(structs)
			if err := src.Fill(b.Context(), ids); err != nil {
				b.Fatal(err)
			}
			for i := range v.Len() {
				if f := v.Index(i).Field(0); f.Int() == 0 {
					f.SetInt(ids[i])
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
	})
	for _, c := range []struct {
		name  string
		rows  any
		clear func()
	}{
		{"structs", &structs, func() { clear(structs) }},
		{"pointers", &pointers, func() {
			for _, p := range pointers {
				p.ID = 0
			}
		}},
		{"embedded", &embedded, func() { clear(embedded) }},
		{"base62", &texts, func() { clear(texts) }},
		{"pointer keys", &keys, func() { clear(keys) }},
		{"typed keys", &typed, func() { clear(typed) }},
		{"typed keys or NULL", &nulls, func() { clear(nulls) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			fill := fillOnly(b, c.rows)
			b.ReportAllocs()
			for b.Loop() {
				c.clear()
				if err := fill(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

// BenchmarkFillOne is a create of a single row.
func BenchmarkFillOne(b *testing.B) {
	var row benchRow
	fill := fillOnly(b, &row)
	b.ReportAllocs()
	for b.Loop() {
		row.ID = 0
		if err := fill(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCreateOne builds an INSERT of one row without sending it: with the key set and no
// plugin, with the key set and the plugin, and with a key that the plugin fills.
func BenchmarkCreateOne(b *testing.B) {
	for _, c := range []struct {
		name   string
		plugin bool
		key    sqltype.ID
	}{{"without", false, 1}, {"set", true, 1}, {"filled", true, 0}} {
		b.Run(c.name, func(b *testing.B) {
			db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
			if err != nil {
				b.Fatal(err)
			}
			if c.plugin {
				gormtest.Use(b, db, gormplugin.Config{Source: &benchSource{}})
			}
			var row benchRow
			b.ReportAllocs()
			for b.Loop() {
				row.ID = c.key
				if err := db.Create(&row).Error; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCreate1000 builds an INSERT of 1,000 rows without sending it: with
// keys set by hand and no plugin, and with keys that the plugin fills.
func BenchmarkCreate1000(b *testing.B) {
	for _, filled := range []bool{false, true} {
		name := map[bool]string{false: "set", true: "filled"}[filled]
		b.Run(name, func(b *testing.B) {
			db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
			if err != nil {
				b.Fatal(err)
			}
			if filled {
				gormtest.Use(b, db, gormplugin.Config{Source: &benchSource{}})
			}
			rows := make([]benchRow, 1000)
			b.ReportAllocs()
			for b.Loop() {
				for i := range rows {
					rows[i].ID = 0
					if !filled {
						rows[i].ID = sqltype.ID(i + 1)
					}
				}
				if err := db.Create(&rows).Error; err != nil {
					b.Fatal(err)
				}
			}
		})
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
