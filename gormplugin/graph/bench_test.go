package graph_test

import (
	"context"
	"fmt"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// BenchmarkAssign gives keys to parents with ten children each. The time per row must not grow with
// their number.
func BenchmarkAssign(b *testing.B) {
	for _, parents := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(parents, "x10"), func(b *testing.B) {
			db := gormtest.Dry(b, gormplugin.Config{Source: &gormtest.Counter{}})
			orders := make([]Order, parents)
			for i := range orders {
				orders[i].Lines = make([]Line, 10)
			}
			for b.Loop() {
				for i := range orders {
					orders[i].ID = 0
					for k := range orders[i].Lines {
						orders[i].Lines[k] = Line{}
					}
				}
				if err := graph.Assign(b.Context(), db, orders); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*parents*11), "ns/row")
		})
	}
}

// BenchmarkAssignByHand is sqltype.Assign for the same rows, with functions in place of gorm's schema.
func BenchmarkAssignByHand(b *testing.B) {
	type line struct{ id, orderID sqltype.ID }
	type order struct {
		id    sqltype.ID
		lines []line
	}
	const parents = 1000
	orders := make([]order, parents)
	for i := range orders {
		orders[i].lines = make([]line, 10)
	}
	src := &gormtest.Counter{}
	for b.Loop() {
		for i := range orders {
			orders[i].id = 0
			clear(orders[i].lines)
		}
		if err := sqltype.Assign(b.Context(), src, orders, func(o *order) *sqltype.ID { return &o.id }, sqltype.Children(
			func(o *order) []line { return o.lines },
			func(l *line) *sqltype.ID { return &l.id },
			func(l *line) *sqltype.ID { return &l.orderID },
		)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*parents*11), "ns/row")
}

// BenchmarkCreateGraph builds the statements of 1,000 parents with ten children
// each and sends none: with keys that Create gives, and by gorm's create.
func BenchmarkCreateGraph(b *testing.B) {
	for name, create := range map[string]func(ctx context.Context, db *gorm.DB, orders []Basket) error{
		"Create": func(ctx context.Context, db *gorm.DB, baskets []Basket) error {
			return graph.Create(ctx, db, baskets)
		},
		"gorm": func(_ context.Context, db *gorm.DB, baskets []Basket) error { return db.Create(&baskets).Error },
	} {
		b.Run(name, func(b *testing.B) {
			db := gormtest.Dry(b, gormplugin.Config{Source: &gormtest.Counter{}})
			b.ReportAllocs()
			for b.Loop() {
				baskets := make([]Basket, 1000)
				for i := range baskets {
					baskets[i].Entries = make([]Entry, 10)
				}
				if err := create(b.Context(), db, baskets); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
